// Package infra is the port to machines: where commands run, servers live and disks attach.
//
// An adapter (infra/local, infra/remote over any channel) implements Machine and must pass infratest.Run.
package infra

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// Machine runs commands and keeps files. Paths are the machine's own; every method is safe for concurrent use.
type Machine interface {
	// Name identifies the machine in results and messages, for example "local".
	Name() string

	// Run runs a command to its end. A non-zero exit is an *ExitError that carries the end of stderr; a program that
	// is not there is ErrNoProgram. When ctx ends, the command and its children are killed.
	Run(ctx context.Context, c Command) (Output, error)

	// Start starts a command that outlives Plimsoll: its own session, no inherited descriptors, output to c.Log.
	// c.Mark must be set; it is how the process is found again.
	Start(ctx context.Context, c Command) (Process, error)

	// Find returns the live processes that carry this mark or one below it, whoever started them. A mark is a path:
	// /labs/demo finds /labs/demo/n1 and not /labs/demo2.
	Find(ctx context.Context, mark string) ([]Process, error)

	Files
}

// Files are a machine's files and folders.
type Files interface {
	ReadFile(ctx context.Context, path string) ([]byte, error) // fs.ErrNotExist when it is not there
	// Snapshot reads the regular files that match these patterns, as a shell matches paths, and tells where links lead. It starts no process
	// and opens no device: it is for small files of /proc, /sys and /run. It leaves out what is not there or cannot be read, and is an
	// error if the rest has more than MostSnapshot bytes.
	Snapshot(ctx context.Context, patterns ...string) (Snapshot, error)
	// WriteFile puts a whole new file in place of an old one: after a crash there is one or the other.
	WriteFile(ctx context.Context, path string, data []byte, mode uint32) error
	MakeDir(ctx context.Context, path string) error          // with its parents, for its owner only; fine if it is there
	List(ctx context.Context, path string) ([]string, error) // names in a folder, sorted; none when it is not there
	Remove(ctx context.Context, path string) error           // with all below it; fine if it is not there
	// CopyTree makes to a copy of the folder from, by reflink where the file system can, and on disk when it returns. A
	// folder that was there is replaced at once and whole; on an error it is untouched and nothing is left behind.
	CopyTree(ctx context.Context, from, to string) error
	// Lock takes an exclusive lock that ends with Plimsoll if it is not released. It tries at least once, and until ctx
	// ends; then it is ErrLocked. The file exists for the lock alone.
	Lock(ctx context.Context, path string) (release func() error, err error)
	Space(ctx context.Context, path string) (Space, error)
}

// Space is what is free where a path lies (or its nearest existing parent), and on the machine.
type Space struct {
	DiskFree   int64 // bytes
	MemoryFree int64 // bytes available without swapping, within the limit this process runs under
	Cores      int
}

// Command is one program to run.
type Command struct {
	Path  string   // absolute, or found on the machine's PATH
	Args  []string // without the program's name
	Env   []string // added to the machine's environment, KEY=value; the place for secrets, never Args
	Dir   string
	Stdin []byte // Run
	Log   string // Start: file that takes stdout and stderr, appended
	Title string // Start: a line that is written to Log first; may be empty
	Mark  string // a path that tells whose process this is, set as PLIMSOLL_MARK in the environment; its children inherit it
}

// MarkVariable is the environment variable that carries a process's mark.
const MarkVariable = "PLIMSOLL_MARK"

// Output is what a finished command printed.
type Output struct {
	Stdout, Stderr []byte
	Took           time.Duration
}

// Process is a started command.
type Process interface {
	ID() int
	Mark() string
	Leads() bool // it was started by Run or Start itself, not by what these started
	// Signal sends a signal by its POSIX name without SIG: TERM, KILL, STOP, CONT, HUP. ErrGone if it has ended. It returns from STOP when
	// no thread of it runs any more.
	Signal(ctx context.Context, name string) error
	// Wait returns when the process has ended or ctx has.
	Wait(ctx context.Context) error
	// Alive reports whether the process still runs (a zombie does not). A frozen process is alive.
	Alive(ctx context.Context) (bool, error)
}

var (
	// ErrGone says that a process has ended.
	ErrGone = errors.New("process has ended")
	// ErrLocked says that somebody else holds a lock.
	ErrLocked = errors.New("locked by another process")
	// ErrNoProgram says that a machine does not have a program.
	ErrNoProgram = errors.New("program not found")
)

// ExitError is a command that ended with a non-zero status.
type ExitError struct {
	Command string // the program's name only: arguments may be long
	Status  int    // -1: killed by a signal
	Stderr  string // its last lines
}

func (e *ExitError) Error() string {
	s := e.Command + ": exit status " + strconv.Itoa(e.Status)
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}
