package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Summary is how a run stands, for who looks from outside: told a few times a second, not journaled.
type Summary struct {
	Status   string        `json:"status"` // running, stopped, held, asking, parked, done, failed, cancelled, undone
	Position string        `json:"position,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	Share    float64       `json:"share"`             // of the whole, 0 to 1
	Left     time.Duration `json:"left_ns,omitempty"` // 0: not known
	LeftBy   LeftBy        `json:"left_by,omitempty"` // how it is known
	Reason   string        `json:"reason,omitempty"`
}

// LeftBy is how it is known how long a run still takes.
type LeftBy string

// What is left is known by how long the steps took in earlier runs, and the pace of what is under way; or, without earlier runs, by that pace alone.
const (
	ByEarlierRuns LeftBy = "earlier_runs"
	ByPace        LeftBy = "pace"
)

// Next is the step that a run waits to begin with, when it is at none: between two, and while the cluster's health is looked at.
func (s *State) Next() string {
	if s.Outcome != "" || s.Stopping != nil {
		return ""
	}
	for _, i := range s.Items {
		if i.Phase == StepWaiting {
			return i.Key
		}
	}
	return ""
}

// DoneWithRemainders is the status of a run that is done but for targets that it left out, UndoneWithRemainders of one that is undone but for
// what its undo left as it is.
const (
	DoneWithRemainders   = "done, with remainders"
	UndoneWithRemainders = "undone, with remainders"
)

// Asking are the steps of a run that wait for approval. A run that has ended, or that a person has cancelled, asks for nothing: no answer would
// have it go on.
func Asking(s *State) (all []*Step) {
	if s.Outcome != "" || s.Stopping != nil {
		return nil
	}
	for _, i := range s.Items {
		if i.Phase == StepAsking {
			all = append(all, i)
		}
	}
	return all
}

// ShownPhase is the phase of a step for who reads of a run: where it asks for nothing any more, a step that waited for approval only waits, once
// the run is over it was not executed, one that had begun and has no end is in doubt, and one whose undo failed is not just done.
func ShownPhase(s *State, i *Step) Phase {
	phase := i.Phase
	if i.UndoFailed() && !i.Lasts {
		return StepUndoFailed
	}
	if phase == StepAsking && len(Asking(s)) == 0 {
		phase = StepWaiting
	}
	if s.Parked && s.Outcome == "" && phase == StepActing {
		return StepInterrupted
	}
	if s.Outcome == RunFailed && phase == StepDue { // nothing acts before the run is resumed
		return StepWaiting
	}
	if !s.Outcome.Over() {
		return phase
	}
	switch phase {
	case StepRetrying: // nobody tries again
		return StepFailed
	case StepWaiting, StepChecking, StepDue:
		switch {
		case i.Acts:
			return StepInDoubt
		case i.Nothing:
			return StepUntouched
		}
		return StepNotExecuted
	case StepActing, StepVerifying, StepUndoing:
		return StepInDoubt
	}
	return phase
}

// GuardrailStop says which guardrail stopped a run, and what it read then; "" of a run that none stopped, or that went on since.
func GuardrailStop(s *State) string {
	if s.Outcome != RunFailed || s.Stopper == "" {
		return ""
	}
	var read []string
	for _, g := range s.Book.Guardrails {
		if g.Name != s.Stopper {
			continue
		}
		for _, name := range g.Metrics() {
			if v, is := s.Reading[name]; is {
				read = append(read, fmt.Sprintf("%s was %.4g", name, v))
			}
		}
	}
	text := "stopped by " + s.Why
	if len(read) > 0 {
		text += " (" + strings.Join(read, ", ") + ")"
	}
	return text
}

// Waiting is what a person reads of a run, or a step, that asks: as JSON it goes on being asking, which scripts read.
const Waiting = "waiting for approval"

// The statuses of a run in which a step waits for a person, that a guardrail has paused, and whose process ended before it.
const (
	asks   = "asking"
	held   = "held"
	parked = "parked"
)

// inWords are the statuses and phases whose words a person would have to learn first: JSON goes on having those that scripts read.
var inWords = map[string]string{
	asks: Waiting, string(StepAsking): Waiting, held: "paused by a guardrail", parked: "interrupted",
	string(StepDue): "ready", string(StepActing): "executing", string(StepRetrying): "will try again", string(StepUndoing): "being undone",
}

// InWords is the word of a status or a phase as a person reads it.
func InWords[S ~string](word S) string { return cmp.Or(inWords[string(word)], string(word)) }

// NothingChanged is why a run that was cancelled has nothing to undo.
const NothingChanged = "nothing was changed"

// HasChangedNothing tells whether no step of the run has begun to act, nor failed.
func HasChangedNothing(s *State) bool {
	return s.FailureUndone() == "" && !slices.ContainsFunc(s.Items, func(i *Step) bool { return i.Begun > 0 || i.Phase == StepUndone })
}

// Running is the status of a run that has not ended, and waits for nobody.
const Running = "running"

// Stopped is the status of a run that its journal has as running and that no process executes: its process was killed, or its machine is gone.
const Stopped = "stopped"

// StatusNow is the status of a run, of which is known whether a process executes it.
func StatusNow(s *State, executed bool) string {
	if status := s.Status(); status != Running || executed {
		return status
	}
	return Stopped
}

// Status is one word for how the run stands by its journal.
func (s *State) Status() string {
	switch {
	case s.Outcome == RunDone && len(s.Remainders()) > 0:
		return DoneWithRemainders
	case s.Outcome == RunUndone && len(s.Remainders()) > 0:
		return UndoneWithRemainders
	case s.Outcome != "":
		return string(s.Outcome)
	case s.Parked:
		return parked
	case s.Held != "":
		return held
	}
	if len(Asking(s)) > 0 {
		return asks
	}
	if s.Events == 0 {
		return "waiting"
	}
	return Running
}
