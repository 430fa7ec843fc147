// Package infra is the port to machines: where commands run, servers live and disks attach.
//
// An adapter (infra/local; later ssh, qemu, aws, kube) implements Machine and must pass infratest.Run.
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

	// Run runs a command to its end. A non-zero exit is an *ExitError that carries the end of stderr.
	// When ctx ends, the command and its children are killed.
	Run(ctx context.Context, c Command) (Output, error)

	// Start starts a command that outlives Plimsoll: its own session, no inherited descriptors, output to c.Log.
	// c.Mark must be set; it is how the process is found again.
	Start(ctx context.Context, c Command) (Process, error)

	// Find returns the live processes that were started with this mark, by this Plimsoll or an earlier one.
	Find(ctx context.Context, mark string) ([]Process, error)

	Files
}

// Files are a machine's files and folders.
type Files interface {
	ReadFile(ctx context.Context, path string) ([]byte, error) // fs.ErrNotExist when it is not there
	WriteFile(ctx context.Context, path string, data []byte, mode uint32) error
	MakeDir(ctx context.Context, path string) error      // with its parents; fine if it is there
	Remove(ctx context.Context, path string) error       // with all below it; fine if it is not there
	CopyTree(ctx context.Context, from, to string) error // replaces to; by reflink where the file system can
	Space(ctx context.Context, path string) (Space, error)
}

// Space is what is free where a path lies (or its nearest existing parent), and on the machine.
type Space struct {
	DiskFree   int64 // bytes
	MemoryFree int64 // bytes available without swapping
	Cores      int
}

// Command is one program to run.
type Command struct {
	Path  string   // absolute, or found on the machine's PATH
	Args  []string // without the program's name
	Env   []string // added to the machine's environment, KEY=value; the place for secrets, never Args
	Dir   string
	Stdin []byte
	Log   string // Start: file that takes stdout and stderr, appended
	Mark  string // Start: a unique text, for example "plimsoll-lab/demo/n1", set as PLIMSOLL_MARK in the environment
}

// Output is what a finished command printed.
type Output struct {
	Stdout, Stderr []byte
	Took           time.Duration
}

// Process is a started command.
type Process interface {
	ID() int
	// Signal sends a signal by its POSIX name without SIG: TERM, KILL, STOP, CONT, HUP. ErrGone if it has ended.
	Signal(ctx context.Context, name string) error
	// Wait returns when the process has ended or ctx has.
	Wait(ctx context.Context) error
	// Alive reports whether the process still runs (a zombie does not). A frozen process is alive.
	Alive(ctx context.Context) (bool, error)
}

// ErrGone says that a process has ended.
var ErrGone = errors.New("process has ended")

// ExitError is a command that ended with a non-zero status.
type ExitError struct {
	Command string // the program's name only: arguments may be long
	Status  int
	Stderr  string // its last lines
}

func (e *ExitError) Error() string {
	s := e.Command + ": exit status " + strconv.Itoa(e.Status)
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}
