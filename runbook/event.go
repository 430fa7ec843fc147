package runbook

import (
	"time"

	"plimsoll/runbook/action"
)

// Kind says what an event of a run's journal tells.
type Kind string

// The kinds. Their meaning never changes: journals are read by later releases. A new one raises Interpreter.
const (
	Began    Kind = "began"    // the run: what, where, with what, by whom; the first event
	Opened   Kind = "opened"   // a stint: its order, its process, its lease
	Targeted Kind = "targeted" // the targets of a group
	Ready    Kind = "ready"    // the cluster was healthy before a target
	Valued   Kind = "valued"   // a step's inputs as evaluated, or that it is to be skipped
	Checked  Kind = "checked"
	Asked    Kind = "asked" // a person's approval is waited for
	Approved Kind = "approved"
	Intended Kind = "intended" // an act is about to begin
	Acted    Kind = "acted"
	Verified Kind = "verified"
	Failed   Kind = "failed" // an attempt; Until says when the next may begin, if there is one
	Held     Kind = "held"   // a guardrail is breached
	Freed    Kind = "freed"
	Undoing  Kind = "undoing" // an undo is about to begin
	Undone   Kind = "undone"
	Stuck    Kind = "stuck"    // a step cannot be undone
	Said     Kind = "said"     // a person's word that changed nothing, with the reason
	Stopping Kind = "stopping" // a person cancelled
	Parked   Kind = "parked"   // the stint ended before the run did
	Ended    Kind = "ended"    // with an outcome; only a rerun or a cancellation can follow
)

// Interpreter is the version of what events mean. Runs of another version are not continued.
const Interpreter = "1"

// Event is one event of a run. Which fields are set depends on its kind.
type Event struct {
	Kind    Kind   `json:"kind"`
	Step    string `json:"step,omitempty"` // id, or group[target].id
	Attempt int    `json:"attempt,omitempty"`

	Header *Header `json:"header,omitempty"`
	Order  *Order  `json:"order,omitempty"`
	Holder string  `json:"holder,omitempty"` // process and host of a stint
	Epoch  int64   `json:"epoch,omitempty"`

	Targets  []string           `json:"targets,omitempty"`
	Inputs   map[string]any     `json:"inputs,omitempty"`
	Skip     bool               `json:"skip,omitempty"`
	Finding  *action.Finding    `json:"finding,omitempty"`
	Caution  string             `json:"caution,omitempty"`
	Token    string             `json:"token,omitempty"`
	Output   action.Facts       `json:"output,omitempty"`
	Error    string             `json:"error,omitempty"`
	Class    string             `json:"class,omitempty"`
	Final    bool               `json:"final,omitempty"` // Failed: no attempt follows
	Asks     bool               `json:"asks,omitempty"`  // Failed: only a person can say how it stands
	Until    time.Time          `json:"until,omitzero"`
	Note     string             `json:"note,omitempty"`
	Plan     string             `json:"plan,omitempty"` // hash that an approval binds to
	By       string             `json:"by,omitempty"`
	Reason   string             `json:"reason,omitempty"`
	Message  int                `json:"message,omitempty"` // number of the message that was taken
	Baseline map[string]float64 `json:"baseline,omitempty"`
	Undo     bool               `json:"undo,omitempty"` // Stopping: and take back what was done
	Outcome  Outcome            `json:"outcome,omitempty"`
	Took     time.Duration      `json:"took,omitempty"`
	Metrics  map[string]float64 `json:"metrics,omitempty"` // the last reading, of Intended, Acted, Verified, Held, Ended
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Done      Outcome = "done"
	Broken    Outcome = "failed" // the steps that were done stand; rerun goes on
	Cancelled Outcome = "cancelled"
	TakenBack Outcome = "undone"
)

// Header is what a run is, from its beginning on.
type Header struct {
	Runbook     string         `json:"runbook"`
	Hash        string         `json:"hash"`
	Text        string         `json:"text"`
	Versions    map[string]int `json:"versions"` // of the actions
	Inputs      map[string]any `json:"inputs"`
	Cluster     string         `json:"cluster"`
	Environment string         `json:"environment"`
	Product     string         `json:"product,omitempty"`
	Version     string         `json:"version,omitempty"`
	Topology    string         `json:"topology,omitempty"`
	By          string         `json:"by"`
	At          time.Time      `json:"at"`
	Plan        Plan           `json:"plan"`
	Rehearsals  []Rehearsal    `json:"rehearsals,omitempty"` // those that opened the gate
	Override    string         `json:"override,omitempty"`   // the reason why the gate was passed by
	BrokenLock  string         `json:"broken_lock,omitempty"`
}

// Order is what a stint was begun for.
type Order struct {
	Do         string `json:"do"` // run, resume, rerun, cancel
	Step       string `json:"step,omitempty"`
	Downstream bool   `json:"downstream,omitempty"`
	Undo       bool   `json:"undo,omitempty"`
	By         string `json:"by,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// Word is what a person says to a run: approve, reject, cancel.
type Word struct {
	Say    string `json:"say"`
	Step   string `json:"step,omitempty"` // approve, reject: of which step; empty: the one that asks
	Plan   string `json:"plan,omitempty"` // approve: of which plan
	Undo   bool   `json:"undo,omitempty"`
	By     string `json:"by"`
	Reason string `json:"reason,omitempty"`
}
