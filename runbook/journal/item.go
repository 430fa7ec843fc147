package journal

import (
	"cmp"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/runbook"
)

// Step is one step, or one step for one target.
type Step struct {
	Key      string // id, or group[target].id
	Step     *runbook.Step
	Group    string
	Target   string
	Cluster  string // on which it acts, as evaluated; empty: the run's own
	Phase    Phase
	Inputs   map[string]any // as evaluated, nil before
	Did      map[string]any // the inputs with which it acted last, by which it is taken back
	Finding  *action.CheckResult
	Before   action.Facts // observed before the first act of this intention
	Found    action.Facts // observed before the first act of all: what an undo goes back to
	Output   action.Facts
	Attempt  int // of acting, from 1
	Failures int // since the last rerun
	Token    string
	Since    time.Time // of the first intent
	Intent   int       // number of the entry that holds the last intent; 0: there is none open
	Begun    int       // number of the entry that held the last intent, over or not; 0: it never acted
	Acts     bool      // it has changed something, or may have
	Nothing  bool      // it was begun, and a check found that nothing was changed by it
	Until    time.Time // of the next attempt, or of the approval
	Question int       // number of the entry in which people were asked last
	Approved []string  // by whom
	Caution  string
	Error    string
	Advice   string            // what to do about it
	Cause    Cause             // of Error, where the change has no part in it
	Class    string            // of Error, as engine.Class
	Asks     bool              // a person must look
	Lasts    bool              // its undo was refused: what it did stays
	Open     bool              // what was begun may still be under way
	Reached  string            // how far the act or the undo came that was begun last and has not ended, if that was kept
	Left     map[string]string // by its undo, and why
	Undo     int               // number of the entry that holds the last begun undo; 0: none open
	Took     time.Duration     // worked on, over all attempts: without waiting for people, guardrails or another session
}

// Key is the name of a step, of a target if it is in a group.
func Key(group, target, id string) string {
	if group == "" {
		return id
	}
	return group + "[" + target + "]." + id
}

// reset makes a step new; what it did before stays in the journal, and it goes on counting its attempts. One that was done,
// or taken back, is a new intention, to be agreed to anew; one that failed or was cut off is the same still.
func (i *Step) reset() {
	old := *i
	*i = Step{
		Key: old.Key, Step: old.Step, Group: old.Group, Target: old.Target, Phase: StepWaiting, Attempt: old.Attempt, Found: old.Found, Acts: old.Acts, Begun: old.Begun,
		Cluster: old.Cluster, Did: old.Did, // for an undo before it acts again
	}
	if old.Phase != StepDone && old.Phase != StepUndone {
		i.Before, i.Intent, i.Token, i.Since, i.Open = old.Before, old.Intent, old.Token, old.Since, old.Open
		if i.Token != "" { // it was agreed to, and acted
			i.Approved = old.Approved
		}
	}
}

// untouched makes a step that was begun, and by which a check found nothing changed, one that has not acted.
func (i *Step) untouched() {
	i.reset()
	i.Nothing, i.Acts, i.Open, i.Begun, i.Intent, i.Did = true, false, false, 0, 0, nil
}

func (i *Step) apply(e Event, entry durable.Entry) error {
	i.Took += e.Took
	switch e.Kind {
	case Valued:
		i.Inputs, i.Cluster, i.Phase = e.Inputs, e.Cluster, StepChecking
		if e.Skip {
			i.Phase = StepSkipped
		}
		if i.Inputs == nil {
			i.Inputs = map[string]any{}
		}
	case Checked:
		i.checked(e)
	case Asked:
		i.Phase, i.Question, i.Until, i.Caution = StepAsking, entry.Number, e.Until, e.Caution
	case Approved:
		i.Approved = append(i.Approved, cmp.Or(e.Signer, e.By))
		if len(i.Approved) >= i.Approvals() {
			i.Phase, i.Until = StepDue, time.Time{}
			if i.Step.Uses == "" {
				i.settle()
			}
		}
	case Said:
		if i.Reached = e.Reached; e.Nothing {
			i.untouched()
		}
	case Intended:
		i.Reached = ""
		i.Phase, i.Intent, i.Attempt, i.Token, i.Acts, i.Did = StepActing, entry.Number, e.Attempt, e.Token, true, i.Inputs
		i.Nothing = false
		i.Begun = entry.Number
		if i.Since.IsZero() {
			i.Since = entry.At
		}
		if i.Before == nil && i.Finding != nil {
			i.Before = i.Finding.Observed
		}
		if i.Found == nil {
			i.Found = i.Before
		}
	case Acted:
		i.Reached = ""
		i.Intent, i.Output, i.Phase = 0, e.Output, StepVerifying
	case Verified:
		i.settle()
		if e.Output != nil {
			i.Output = e.Output
		}
	case Cut:
		i.Intent, i.Finding, i.Phase = 0, nil, StepChecking
		if e.Nothing && i.Attempt <= 1 { // no attempt before it may have done something
			i.Acts = false
		}
	case Failed:
		i.Cause, i.Class = e.Cause, e.Class
		i.Intent, i.Error, i.Advice, i.Asks, i.Open, i.Phase, i.Until = 0, e.Error, e.Note, e.Asks, e.Open, StepFailed, time.Time{}
		i.Failures++
		if e.Nothing && i.Attempt <= 1 { // no attempt before it may have done something
			i.Acts = false
		}
		if !e.Final {
			i.Phase, i.Until = StepRetrying, e.Until
		}
	case Undoing:
		i.Phase, i.Undo, i.Reached = StepUndoing, entry.Number, ""
	case Undone:
		i.Phase, i.Undo, i.Acts, i.Intent, i.Open, i.Reached, i.Left = StepUndone, 0, false, 0, false, "", e.Left
	case Stuck:
		i.Undo, i.Error, i.Advice, i.Asks, i.Lasts = 0, e.Error, e.Note, true, e.Lasts
		i.Phase = StepDone
	default:
		return fmt.Errorf("an event of kind %q, which this Plimsoll does not know", e.Kind)
	}
	return nil
}

// checked takes a check's finding. Unknown is a failure, which the interpreter writes next.
func (i *Step) checked(e Event) {
	i.Finding, i.Open = e.Finding, false
	switch {
	case e.Finding == nil || e.Finding.State == action.Unknown:
	case e.Finding.State == action.Satisfied:
		i.Phase, i.Intent = StepVerifying, 0
	case i.needsApproval(e.Caution):
		i.Phase, i.Caution = StepAsking, e.Caution
	default:
		i.Phase = StepDue
	}
}

func (i *Step) settle() {
	i.Phase, i.Intent, i.Error, i.Asks = StepDone, 0, "", false
}

// needsApproval tells whether people must still agree before the step acts.
func (i *Step) needsApproval(caution string) bool {
	return (i.Step.Approval != nil || caution != "") && len(i.Approved) < i.Approvals()
}

func (i *Step) Approvals() int {
	if i.Step.Approval != nil {
		return i.Step.Approval.Count
	}
	return 1
}

// UndoFailed tells whether the undo of the step was begun, or asked for, and failed. How it stands is not known, unless it is known to stay (Lasts).
func (i *Step) UndoFailed() bool { return i.Phase == StepDone && i.Asks }

// Over tells whether the step needs nothing more.
func (i *Step) Over() bool { return i.Phase == StepDone || i.Phase == StepSkipped }

// Phase is where a step stands.
type Phase string

// The phases.
const (
	StepWaiting   Phase = "waiting" // for those before it
	StepChecking  Phase = "checking"
	StepAsking    Phase = "approval"
	StepDue       Phase = "due" // to act
	StepActing    Phase = "acting"
	StepVerifying Phase = "verifying"
	StepRetrying  Phase = "retry" // until the next attempt
	StepDone      Phase = "done"
	StepSkipped   Phase = "skipped"
	StepFailed    Phase = "failed"
	StepUndoing   Phase = "undoing"
	StepUndone    Phase = "undone"

	// StepUndoFailed is only shown: in the journal such a step is done, as it was before.
	StepUndoFailed Phase = "undo failed"
	// StepNotExecuted is only shown: the run ended before it.
	StepNotExecuted Phase = "not executed"
	// StepUntouched is only shown: the run ended after the step was begun, and a check found that nothing was changed by it.
	StepUntouched Phase = "begun, nothing changed"
	// StepInterrupted is only shown: the run is parked, so nobody acts, and the journal does not have the end of what was begun.
	StepInterrupted Phase = "interrupted"
	// StepInDoubt is only shown: the run ended while the step was begun, and whether it changed anything is not known.
	StepInDoubt Phase = "begun, outcome not known"
)
