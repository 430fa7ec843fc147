// Package action is the port to what a step of a runbook calls, and holds the actions that need no engine of their own.
//
// An action is typed Go: a struct of inputs that can check whether the change is already made, make it, and undo it where that can be done.
// It must pass actiontest.Run.
package action

import (
	"context"
	"time"

	"plimsoll/cluster"
)

// Action is one kind of thing that a step can do.
type Action struct {
	Name    string // family.verb: sql.execute, mysql.set-variable
	Version int    // from 1; raised when the meaning changes, which closes the gate of every runbook that uses it
	About   string // one sentence
	Engine  string // the engine whose clusters it works on; empty: any
	New     func() Task
	// Instead stands in for a task whose inputs were read: in experiments with runbooks that have nothing to act on. nil: the
	// task itself.
	Instead func(Task) Task
}

// Task is an action with its inputs: a pointer to a struct whose fields carry `yaml` and `doc` tags. New returns it with
// the defaults filled in. Every method may be called many times and from a process that began nothing of it.
type Task interface {
	// Traits says what acting with these inputs means.
	Traits() Traits
	// Check says whether everything is already as intended. It changes nothing.
	Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error)
	// Act makes it so.
	Act(ctx context.Context, on *cluster.Cluster, c Call) (Facts, error)
}

// Traits says how an act behaves: what it leaves behind, and whether it may be repeated or interrupted.
type Traits struct {
	Effect Effect
	// Repeatable says that an act which was interrupted may be done again: it comes to the same.
	Repeatable bool
	// Interruptible says that an act stops soon when its context ends, that nothing of it goes on, and that it goes on where
	// it was when it is done again. It is cut off when a guardrail is breached or a person interrupts; any other act may end.
	// It is Repeatable too.
	Interruptible bool
	// UndoTakes is what the undo of an act takes from those who use the cluster, as the end of "undoing it …", which is told before a run is
	// undone; "": nothing.
	UndoTakes string
}

// Effect says whether what an act did can be undone.
type Effect string

// The effects.
const (
	None         Effect = "none"         // it waits or looks
	Reversible   Effect = "reversible"   // Undo, or the step's own undo, takes it back
	Irreversible Effect = "irreversible" // nothing takes it back, says the action itself
	NoUndo       Effect = "no_undo"      // nobody wrote how it is taken back, which is not to say that nothing does
	Lasting      Effect = "lasting"      // Undo takes back what is not done yet, and refuses once it is: then it stays
)

// Stays tells whether nothing in a runbook takes back what was done, as far as the action alone can tell: the step may have an undo of its own.
func (e Effect) Stays() bool { return e == Irreversible || e == NoUndo }

// Verifier is a task whose success is not simply that Check is satisfied afterwards. It may add to LeftOut of the output.
type Verifier interface {
	Verify(ctx context.Context, on *cluster.Cluster, output Facts) error
}

// Undoer is a task that can be taken back. c.Before is what the first check saw. It may be called twice. *Remains when it is undone but for
// something.
type Undoer interface {
	Undo(ctx context.Context, on *cluster.Cluster, c Call) error
}

// InFlightWaiter is a task whose act may go on by itself when the Plimsoll that began it has died or was cut off from it: a command,
// a statement, a node that joins. Then AwaitInFlight is called before Check, and before Undo; it returns when nothing of the act is
// under way any more, or says that it cannot be told.
type InFlightWaiter interface {
	AwaitInFlight(ctx context.Context, on *cluster.Cluster, c Call) error
}

// Passer is a task of which nothing is left once what it worked on is again as it was, such as a server that was restarted. A run that is ended
// after it releases its cluster, as after a step that changed nothing.
type Passer interface {
	// Passed says what is not as it was before an act that put this out; nil: nothing.
	Passed(ctx context.Context, on *cluster.Cluster, output Facts) error
}

// ApprovalDemander is a task that demands a person's approval for what it found: a reason such as the writes that a crash could
// then lose; empty when there is none.
type ApprovalDemander interface {
	ApprovalReason(f CheckResult) string
}

// SettingsChanger is a task that gives servers settings: what would read them can be asked about them beforehand.
type SettingsChanger interface {
	Settings() map[string]string
}

// Validator refuses inputs that can never work.
type Validator interface{ Validate() error }

// State is what a check found.
type State string

// The states.
const (
	Satisfied State = "satisfied" // it is so already
	Needed    State = "needed"    // it is not; Act would make it so
	Unknown   State = "unknown"   // it cannot be told, or it is neither as it was nor as intended: a person must look
)

// NothingDone is the error of an act that has changed nothing which would have to be taken back before the steps before it can be: it was refused,
// or gave up. What it has left otherwise its text says.
type NothingDone struct{ Err error }

func (n NothingDone) Error() string { return n.Err.Error() }

// Unwrap is the cause.
func (n NothingDone) Unwrap() error { return n.Err }

// FactsHold is the error of a check that refuses to act though it has seen everything: what it observed is whole, and tells what came of an act
// that was begun.
type FactsHold struct{ Err error }

func (f FactsHold) Error() string { return f.Err.Error() }

// Unwrap is the cause.
func (f FactsHold) Unwrap() error { return f.Err }

// LeftOut is the output of an action on many targets for those that it could not work on: why, by their names. The run is done but for
// them, and says so.
const LeftOut = "left_out"

// CheckResult is the answer of a check.
type CheckResult struct {
	State    State  `json:"state"`
	Observed Facts  `json:"observed,omitempty"` // only what stays the same while nobody changes it: approvals bind to it
	Intended Facts  `json:"intended,omitempty"`
	Reason   string `json:"reason,omitempty"` // of Unknown; of the others if it helps
	// Awaits is what is not there and has to come by an earlier step: a plan in which none brings it refuses the task. An act declines without it.
	Awaits []Awaits `json:"-"`
}

// Call is one attempt at a step.
type Call struct {
	Run, Step string
	Attempt   int
	Token     string    // the same for every attempt at one intention: for systems that recognise a repeated request
	Epoch     int64     // of the lease under which this is done: for systems that can refuse an older one
	Since     time.Time // when this was first attempted
	Before    Facts     // what was observed before the first attempt
	Output    Facts     // for an undo: what the act put out; nil if it did not end
	Resumed   bool      // the process that acted is gone: others may have had the cluster since
	// Progress tells how far an act is: a share from 0 to 1, negative when it cannot be known. Never nil.
	Progress func(share float64, text string)
	// Reach keeps in the journal how far an act or an undo came, before it goes on: for a person to read if it is cut off in its middle, and
	// nothing else could tell. The error says that it was not kept. nil: nothing keeps it.
	Reach func(text string) error
}
