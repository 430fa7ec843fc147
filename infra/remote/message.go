package remote

import (
	"time"

	"plimsoll/infra"
)

// Greeting is the line that the server begins with. What comes before it was said by a login shell.
const Greeting = "plimsoll machine, protocol 1\n"

// introduction is the body of hello, in both directions.
type introduction struct {
	Limit   time.Duration `json:"limit,omitempty"`   // client: how long after the last beat everything ends
	Session string        `json:"session,omitempty"` // client: names the line, so that its commands' fate can be asked for over another
	Host    string        `json:"host,omitempty"`    // server: what the machine calls itself
	User    int           `json:"user"`              // server: the id of the user that it runs as
	ID      int           `json:"process"`           // server: its process
	Self    string        `json:"reference"`         // server: the same, by its reference
}

type method string

const (
	run       method = "run"
	start     method = "start"
	find      method = "find"
	recall    method = "recall"
	talk      method = "talk"
	readFile  method = "read_file"
	snapshot  method = "snapshot"
	writeFile method = "write_file"
	makeDir   method = "make_dir"
	list      method = "list"
	remove    method = "remove"
	copyTree  method = "copy_tree"
	lock      method = "lock"
	release   method = "release"
	space     method = "space"
	signal    method = "signal"
	wait      method = "wait"
	alive     method = "alive"
	fate      method = "fate"
)

// request is the body of begin. Stdin of a command and the content of a file follow as data.
type request struct {
	Method  method         `json:"method"`
	Command *infra.Command `json:"command,omitempty"`
	Path    string         `json:"path,omitempty"`
	Paths   []string       `json:"paths,omitempty"` // patterns of them
	To      string         `json:"to,omitempty"`
	Mode    uint32         `json:"mode,omitempty"`
	Mark    string         `json:"mark,omitempty"`
	Process string         `json:"process,omitempty"` // its reference
	Signal  string         `json:"signal,omitempty"`
	Lock    uint32         `json:"lock,omitempty"`    // the call that took it
	Session string         `json:"session,omitempty"` // fate: of the line that was lost
	Call    uint32         `json:"call,omitempty"`    // fate: the command on it
}

// answer is the body of result. A file's content, a snapshot as JSON and what a command printed have come before it as data.
type answer struct {
	Error     *failure      `json:"error,omitempty"`
	Took      time.Duration `json:"took,omitempty"`
	Stdout    int           `json:"stdout,omitempty"` // so many bytes of the data; the rest is stderr
	Processes []known       `json:"processes,omitempty"`
	Names     []string      `json:"names,omitempty"`
	Space     *infra.Space  `json:"space,omitempty"`
	Alive     bool          `json:"alive,omitempty"`
	Fate      *ending       `json:"fate,omitempty"`
}

// known is what is told of a process.
type known struct {
	ID        int    `json:"id"`
	Mark      string `json:"mark,omitempty"`
	Leads     bool   `json:"leads,omitempty"`
	Reference string `json:"reference"`
}
