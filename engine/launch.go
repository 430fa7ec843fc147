package engine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"plimsoll/infra"
)

// Launcher is an engine whose servers Plimsoll can run in a lab. A node goes through
// Find or Fetch → Configure → Init (or Clone) → Command, started by lab → Ready → Join, and is stopped by its process.
type Launcher interface {
	// Releases lists what Fetch can get; of one product the preferred comes first.
	Releases() []Release
	// Port is where its servers listen unless they are told otherwise.
	Port() int
	// Find looks for a release on the machine's PATH, then below cache; an empty version is any. ErrNotInstalled if it
	// is in neither.
	Find(ctx context.Context, m infra.Machine, r Release, cache string) (Distribution, error)
	// Fetch puts one of Releases below cache without root, by the machine's own package clients.
	Fetch(ctx context.Context, m infra.Machine, r Release, cache string, say func(string)) (Distribution, error)
	// Needs estimates what a node takes, before anything is made of it; an error says what in its settings cannot be.
	Needs(n Node) (Needs, error)
	// Configure writes the node's configuration. It is called before Init and before every start.
	Configure(ctx context.Context, m infra.Machine, n Node) error
	// Init makes the node's empty data folder. Configure has been called.
	Init(ctx context.Context, m infra.Machine, n Node) error
	// Command is the server's command line. Lab sets Log, Title and Mark.
	Command(n Node) (infra.Command, error)
	// Ready tries once whether the node serves; the error says what it still waits for.
	Ready(ctx context.Context, m infra.Machine, n Node) error
	// Join makes a ready node part of the cluster of the nodes before it, which run: a replica of the first, a member of
	// the ring; and waits until it is. For a node that is part of it already it only waits.
	Join(ctx context.Context, m infra.Machine, n Node, before []Node) error
	// Diagnose says why a node does not run, by what it wrote into its log; nil if it did not say.
	Diagnose(ctx context.Context, m infra.Machine, n Node) error
	// Target is how to reach a cluster made of these nodes as its administrator.
	Target(nodes []Node) Target
}

// Cloner is a Launcher that can make a node of a copy of another's data. Without it, every node begins empty.
type Cloner interface {
	// Clone makes the data folder of to from that of from, which is stopped.
	Clone(ctx context.Context, m infra.Machine, from, to Node) error
	// Template names all that the node's empty data folder depends on, as the name of a folder; "" if Init makes each anew, because it depends
	// on settings of which there are too many for one of each to be kept. Two nodes with one name may begin with copies of the same folder.
	Template(n Node) string
}

// ErrNotInstalled says that a release is neither on the machine nor in the cache.
var ErrNotInstalled = errors.New("not installed")

// Release is one product and version that a launcher can run.
type Release struct {
	Product string `json:"product"` // the cluster.engine a user writes: mariadb, mysql, cassandra
	Version string `json:"version"` // 11.4, 10.11, 9.7, 5.0
}

// Distribution is an installed release.
type Distribution struct {
	Release
	Exact  string            `json:"exact"`  // 11.4.5, as the program says
	Root   string            `json:"root"`   // folder, "" when it comes from PATH
	Paths  map[string]string `json:"paths"`  // the adapter's own: server, messages, plugins
	Origin string            `json:"origin"` // "PATH" or the package it came from, for environment.json
}

// Needs is the memory and disk that a node takes of its machine, in bytes.
type Needs struct {
	Memory, Disk int64
	Setting      string // what makes the most of Memory, to tell a user what to lower
}

// Node is one server of a lab cluster.
type Node struct {
	Cluster string
	Size    int      // nodes of the cluster
	Seeds   []string // addresses a new node asks first; the first node's is its own
	Name    string   // n1, n2, …
	Number  int      // from 1; server id and the like
	Address string   // 127.20.x.y
	Port    int
	Dir     string // its folder; data, run and tmp stand in it
	Dist    Distribution
	Config  map[string]string // settings of the engine, as a user wrote them
	Memory  int64             // bytes it may use; 0: as its settings say
	Alone   bool              // the cluster's servers have nothing to do with one another
	// Confined says that it runs in a machine with a kernel of its own (infra/uml), which has no asynchronous disk I/O and few addresses.
	Confined bool

	Password Secret `json:"-"` // of the administrator, made by lab and the same for all nodes
}

// Data is the folder that is copied when the data set is kept or brought back. It holds all that a server must keep.
func (n Node) Data() string { return path.Join(n.Dir, "data") }

// Run is the folder of what lives no longer than a server does, and of what only its owner may read.
func (n Node) Run() string { return path.Join(n.Dir, "run") }

// Temp is the folder for temporary files.
func (n Node) Temp() string { return path.Join(n.Dir, "tmp") }

// Log is the file that takes what the server says, one life after another, each begun by a line that begins with LogTitle.
func (n Node) Log() string { return path.Join(n.Dir, "log") }

// LogTitle begins each life of a server in its log.
const LogTitle = "=== Plimsoll starts this node"

// LastLife is the part of a log that a server wrote since it was started last.
func LastLife(log string) string {
	title := strings.LastIndex(log, LogTitle)
	if title < 0 {
		return log
	}
	_, life, _ := strings.Cut(log[title:], "\n")
	return life
}

// SettingsChecker is a Launcher whose servers can be asked whether they take some settings, without one being started.
type SettingsChecker interface {
	// CheckSettings refuses the first setting of some nodes, of one distribution that is there, that its server does not have, cannot set so, or
	// would make something else of without an error. It returns those that the server would round. A setting that a lab makes itself is
	// refused by a Reserved. What it refuses is a RefusedSetting.
	CheckSettings(ctx context.Context, m infra.Machine, nodes ...Node) ([]Rounded, error)
}

// RefusedSetting is a setting that a server does not take: what was asked for is wrong, not the machine that was asked.
type RefusedSetting struct {
	Err  error
	Near string // of a setting that is not there: the one that was probably meant
}

func (e *RefusedSetting) Error() string { return e.Err.Error() }
func (e *RefusedSetting) Unwrap() error { return e.Err }

// Reserved refuses a setting that a lab makes itself.
type Reserved struct{ Setting, Why string }

func (r *Reserved) Error() string {
	return fmt.Sprintf("setting %s cannot be changed: %s", r.Setting, r.Why)
}

// Rounded is a setting that a server keeps in whole blocks: it runs with a value that is near to what was written.
type Rounded struct {
	Setting, Wrote, Becomes string
	Because                 string // the server chooses the value for this reason, which is no rounding
}

func (r Rounded) String() string {
	if r.Because != "" {
		return fmt.Sprintf("the server would run with %s = %s instead of %s: %s", r.Setting, r.Becomes, r.Wrote, r.Because)
	}
	return fmt.Sprintf("the server rounds %s = %s and would run with %s", r.Setting, r.Wrote, r.Becomes)
}

// Tooled is a Launcher whose servers have a tool of their own for what their protocol cannot be asked, such as nodetool.
type Tooled interface {
	// Tool is the command that has it do something with a node that runs.
	Tool(n Node, args ...string) infra.Command
	// PeerPorts are those at which a node listens for the others and for the tool, beside that of its clients.
	PeerPorts(n Node) []int
}
