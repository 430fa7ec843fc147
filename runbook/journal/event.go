// Package journal says what a run's journal holds, and how a run stands by it: events, the state that they fold to, what a plan and an
// approval were, what was left undone, and the evidence that proves a run. It executes nothing.
package journal

import (
	"time"

	"plimsoll/action"
	"plimsoll/runbook"
)

// Kind says what an event of a run's journal tells.
type Kind string

// The kinds. Their meaning never changes: journals are read by later releases. A new one raises Interpreter.
const (
	Began    Kind = "began"    // the run: what, where, with what, by whom; the first event
	Opened   Kind = "opened"   // a session: its order, its process, its lease
	Targeted Kind = "targeted" // the targets of a group
	Ready    Kind = "ready"    // the cluster was healthy before a target
	Valued   Kind = "valued"   // a step's inputs as evaluated, or that it is to be skipped
	Checked  Kind = "checked"
	Asked    Kind = "asked" // a person's approval is waited for
	Approved Kind = "approved"
	Intended Kind = "intended" // an act is about to begin
	Acted    Kind = "acted"
	Cut      Kind = "cut" // an act was not begun after all, or was ended in the middle and may be; it is checked and done again
	Verified Kind = "verified"
	Failed   Kind = "failed" // an attempt; Until says when the next may begin, if there is one
	Held     Kind = "held"   // a guardrail is breached
	Freed    Kind = "freed"
	Undoing  Kind = "undoing"  // an undo is about to begin
	Undone   Kind = "undone"   // Left says what remains
	Stuck    Kind = "stuck"    // a step cannot be undone
	Said     Kind = "said"     // a person's message that changed nothing, with the reason; or what is to be known of a claim or of an act in its middle
	Stopping Kind = "stopping" // a person cancelled; with an Error: a step failed, and the runbook has what was done undone
	Parked   Kind = "parked"   // the session ended before the run did
	Ended    Kind = "ended"    // with an outcome; only a rerun or a cancellation can follow
)

// Interpreter is the version of what events mean. Runs of another version are not continued.
const Interpreter = "1"

// Event is one event of a run. Which fields are set depends on its kind.
type Event struct {
	Kind    Kind   `json:"kind"`
	Step    string `json:"step,omitempty"` // id, or group[target].id
	Attempt int    `json:"attempt,omitempty"`

	Header *Header          `json:"header,omitempty"`
	Order  *Command         `json:"order,omitempty"`
	Holder string           `json:"holder,omitempty"` // process and host of a session
	Epoch  int64            `json:"epoch,omitempty"`  // of the lease under which this was done
	Epochs map[string]int64 `json:"epochs,omitempty"` // Opened: of the leases, by cluster

	Unclaimed map[string]string `json:"unclaimed,omitempty"` // Opened: why the claim could not be stored yet, by cluster
	Claimed   bool              `json:"claimed,omitempty"`   // Said: in Cluster it has been

	Versions map[string]int `json:"versions,omitempty"` // Opened: of the actions, where they are others than before and a person said that it goes on

	Targets   []string            `json:"targets,omitempty"`
	Inputs    action.Facts        `json:"inputs,omitempty"`
	Cluster   string              `json:"cluster,omitempty"` // Valued: on which the step acts, if not the run's own; Said: of which is spoken
	Skip      bool                `json:"skip,omitempty"`
	Finding   *action.CheckResult `json:"finding,omitempty"`
	Caution   string              `json:"caution,omitempty"`
	Token     string              `json:"token,omitempty"`
	Output    action.Facts        `json:"output,omitempty"`
	Error     string              `json:"error,omitempty"`
	Class     string              `json:"class,omitempty"`
	Final     bool                `json:"final,omitempty"`   // Failed: no attempt follows
	Asks      bool                `json:"asks,omitempty"`    // Failed: only a person can say how it stands
	Open      bool                `json:"open,omitempty"`    // Failed: the act may still be under way
	Nothing   bool                `json:"nothing,omitempty"` // Failed: the act says that it has changed nothing; Cut: it was not begun; Said: a check found that the step has changed nothing
	Until     time.Time           `json:"until,omitzero"`
	Note      string              `json:"note,omitempty"`
	Count     int                 `json:"count,omitempty"` // Asked: how many different people are still to agree
	Plan      string              `json:"plan,omitempty"`  // hash that an approval binds to
	By        string              `json:"by,omitempty"`
	Known     string              `json:"known,omitempty"`     // how it is known who that is
	Signer    string              `json:"signer,omitempty"`    // Approved: whose key signed it
	Signature string              `json:"signature,omitempty"` // Approved: of ApprovalText, as ssh-keygen writes it
	Reason    string              `json:"reason,omitempty"`
	Left      map[string]string   `json:"left,omitempty"`    // Undone: what was left as it is, and why
	Reached   string              `json:"reached,omitempty"` // Said: how far the act or the undo of the step came
	Message   int                 `json:"message,omitempty"` // number of the message that was taken
	Baseline  map[string]float64  `json:"baseline,omitempty"`
	Guardrail string              `json:"rail,omitempty"`    // Held, Ended: the guardrail
	Blind     bool                `json:"blind,omitempty"`   // Held: because metrics are missing, not because of what they show
	Claim     bool                `json:"claim,omitempty"`   // Said: the claim in the cluster could not be undone
	Cause     Cause               `json:"cause,omitempty"`   // Failed, Ended: where that is nothing that the change did
	Lasts     bool                `json:"lasts,omitempty"`   // Stuck: what the step did stays
	Undo      bool                `json:"undo,omitempty"`    // Stopping: and undo what was done
	Forward   bool                `json:"forward,omitempty"` // Parked: a cancellation was not taken, since what was done cannot be taken back: the way is forward
	Past      bool                `json:"past,omitempty"`    // Parked, Cut: another run had the cluster since; this one cannot be resumed
	Leave     string              `json:"leave,omitempty"`   // Stopping: the reason to give the cluster back as it is
	Outcome   Outcome             `json:"outcome,omitempty"`
	Took      time.Duration       `json:"took,omitempty"`
	Metrics   map[string]float64  `json:"metrics,omitempty"` // the last reading, of Intended, Acted, Verified, Held, Ended
}

// Cause is why a step or a run failed, where what was to be changed has no part in it.
type Cause string

// The causes.
const (
	BadInputs Cause = "inputs"    // what the runbook's expressions gave cannot be used
	NoMetrics Cause = "metrics"   // a guardrail stopped it because metrics were missing, not because of what they showed
	Unchanged Cause = "unchanged" // it was cancelled before it changed anything
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	RunDone      Outcome = "done"
	RunFailed    Outcome = "failed" // the steps that were done stand; rerun goes on
	RunCancelled Outcome = "cancelled"
	RunUndone    Outcome = "undone"
)

// Over tells whether a run that ended so has nothing left to do, and has given its clusters back.
func (o Outcome) Over() bool { return o != "" && o != RunFailed }

// Header describes a run as it was begun: its text, inputs, clusters and plan. It does not change.
type Header struct {
	Runbook     string            `json:"runbook"`
	Hash        string            `json:"hash"`
	Text        string            `json:"text"`
	Versions    map[string]int    `json:"versions"` // of the actions
	Inputs      action.Facts      `json:"inputs"`
	Cluster     string            `json:"cluster"`
	Clusters    []string          `json:"clusters,omitempty"` // all that it locks, if there are others
	Environment string            `json:"environment"`        // of the cluster that asks for the most care
	Engine      string            `json:"engine,omitempty"`   // the adapter's name, which is known of a cluster of which no node answers
	Product     string            `json:"product,omitempty"`
	Version     string            `json:"version,omitempty"`
	Topology    string            `json:"topology,omitempty"`
	Primary     string            `json:"primary,omitempty"` // of the cluster, when the run was planned
	Roles       runbook.Roles     `json:"roles,omitempty"`   // of the nodes that inputs name
	Approvers   runbook.Approvers `json:"approvers,omitempty"`
	Signers     string            `json:"signers,omitempty"` // the keys that sign approvals, where they are signed
	By          string            `json:"by"`
	Known       string            `json:"known,omitempty"` // how it is known who that is
	At          time.Time         `json:"at"`
	Plan        Plan              `json:"plan"`
	Rehearsals  []Rehearsal       `json:"rehearsals,omitempty"`  // those that opened the gate
	Override    string            `json:"override,omitempty"`    // the reason why the gate was passed by
	BrokenLock  string            `json:"broken_lock,omitempty"` // the reason why locks were taken by force
	Broke       []string          `json:"broke,omitempty"`       // from these runs
	Locked      map[string]int64  `json:"locked,omitempty"`      // the epochs of the leases with which the run was begun, by cluster
	LockedAt    time.Time         `json:"locked_at,omitzero"`    // when it had all of them
}

// AllClusters are all that the run changes, in the order in which they are locked.
func (h Header) AllClusters() []string {
	if len(h.Clusters) == 0 {
		return []string{h.Cluster}
	}
	return h.Clusters
}
