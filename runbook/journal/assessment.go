package journal

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
)

// effectState is how things stand of a step whose act was intended, and of which the journal does not know what came of it.
type effectState string

const (
	Untouched effectState = "untouched" // it is as it was before: the act was never begun, or came to nothing
	Complete  effectState = "complete"  // it is as it was meant
	HalfDone  effectState = "half done"
	Passed    effectState = "passed" // it is done, and nothing of it is left: action.Passer
)

// Assessment is what a look at a step that was begun has shown.
type Assessment struct {
	Is  effectState
	Why string // of half done: what was seen
	Err error  // it cannot be told

	Unchecked bool // of half done: nothing was seen, since it has no check
}

// Assessments are the looks at the steps of a run, by their keys; none of a step that nobody has looked at.
type Assessments map[string]*Assessment

// Looks tells whether a step, with the inputs that it has, changes nothing.
func (s *State) Looks(i *Step) bool {
	inputs := i.Did
	if inputs == nil {
		inputs = i.Inputs
	}
	task, err := s.Book.Bind(i.Step.Uses, inputs)
	return err == nil && task.Traits().Effect == action.None
}

// standing is how a step stands that may have had an effect.
type standing int

const (
	noEffect standing = iota // it has none, or none that is left
	isDone
	wasBegun
	inDoubt // its outcome cannot be determined
	halfDone
)

// standsAfter tells how a step stands, and says it after its name.
func (seen Assessments) standsAfter(s *State, i *Step) (standing, string) {
	a := seen[i.Key]
	switch {
	case !i.Acts || s.Looks(i), a != nil && a.Err == nil && (a.Is == Untouched || a.Is == Passed):
		return noEffect, ""
	case i.Phase == StepDone && a != nil && a.Err != nil:
		return inDoubt, "is done, but " + OneLine(a.Err)
	case i.Phase == StepDone:
		return isDone, "is done"
	case a != nil && a.Err == nil && a.Is == Complete:
		return isDone, "is done, as a check found"
	case a == nil:
		return wasBegun, "was begun"
	case a.Err != nil:
		return inDoubt, "was started, and its outcome cannot be determined: " + OneLine(a.Err)
	}
	if a.Unchecked {
		return halfDone, "may have been executed: " + a.Why
	}
	return halfDone, "is half done: " + a.Why
}

// Irrevocable is the first step that nothing takes back and that has acted, or may have, and how it stands; nil: all that was done
// can be taken back.
func (seen Assessments) Irrevocable(s *State) (*Step, string) {
	for _, i := range s.Items {
		if is, how := seen.standsAfter(s, i); is != noEffect && !s.Reversible(i) {
			return i, how
		}
	}
	return nil, ""
}

// Effects lists the steps that have changed something that stands.
func (seen Assessments) Effects(s *State) []string { return seen.effects(s, nil) }

// EffectsAfter is Effects where of one of the steps was said before how it stands.
func (seen Assessments) EffectsAfter(s *State, said *Step) []string { return seen.effects(s, said) }

func (seen Assessments) effects(s *State, said *Step) []string {
	var all []string
	for _, i := range s.Items {
		switch is, how := seen.standsAfter(s, i); {
		case is == noEffect:
		case is == isDone, is == wasBegun, i == said:
			all = append(all, i.Key)
		default:
			all = append(all, i.Key+" ("+how+")")
		}
	}
	return all
}

// TooLate says why a run that goes on is not cancelled at a person's word: it has gone, or is going, beyond what can be taken back, or
// it would leave the cluster as it is and nobody said that it should. Empty: it is.
func (s *State) TooLate(w Message) string {
	if w.Leave != "" || s.Book == nil {
		return ""
	}
	if !w.Undo { // whether they are as they were is looked at once no step acts
		s = Clone(s)
		for _, i := range s.Items {
			if Passes(s, i) {
				i.Acts = false
			}
		}
	}
	if i, how := Assessments(nil).Irrevocable(s); i != nil {
		return fmt.Sprintf("step %s %s, and %s: the safe way is forward, so the run continues; --leave REASON releases the cluster as it is", i.Key, how, WhyItStays(s, i, "cannot be undone"))
	}
	if stands := Assessments(nil).Effects(s); !w.Undo && len(stands) > 0 {
		return fmt.Sprintf("what stays done: %s; add --undo to undo it, or --leave REASON to release the cluster as it is", strings.Join(stands, ", "))
	}
	return ""
}

// Stands lists, of a run that was to be taken back and ended before it was, the step that stays, and all that stand with it: what
// acted, or may have, in order.
func (s *State) Stands() (stays *Step, all []string) {
	if s.Outcome != RunCancelled && s.Outcome != RunFailed || !s.Undoing {
		return nil, nil
	}
	for _, i := range s.Items {
		if !i.Acts || s.Book.Looks(i.Key) {
			continue
		}
		all = append(all, i.Key)
		if i.UndoFailed() {
			stays = i
		}
	}
	return stays, all
}

// Reversible tells whether there is an undo of what a step did.
func (s *State) Reversible(i *Step) bool {
	task, err := s.Book.Bind(i.Step.Uses, i.Did)
	if err != nil {
		return false
	}
	_, own := task.(action.Undoer)
	effect := task.Traits().Effect
	stays := effect.Stays() || effect == action.Lasting && i.Phase == StepDone
	return effect == action.None || i.Step.Undo != nil || own && !stays
}

// Passes tells whether a step may be done and leave nothing behind.
func Passes(s *State, i *Step) bool {
	task, err := s.Book.Bind(i.Step.Uses, i.Did)
	_, passes := task.(action.Passer)
	return err == nil && passes
}

// WhyItStays says of a step that is not Reversible that nobody wrote an undo for it; the word otherwise, where its action says so itself.
func WhyItStays(s *State, i *Step, otherwise string) string {
	if task, err := s.Book.Bind(i.Step.Uses, i.Did); err == nil && task.Traits().Effect == action.NoUndo {
		return "the runbook has no undo for it"
	}
	return otherwise
}

// UndoWarnings say what undoing the run takes from those who use the cluster, each as the end of "undoing it …".
func UndoWarnings(s *State) []string {
	var all []string
	for _, i := range s.Items {
		if !i.Acts || i.Phase == StepUndone || i.Step.Undo != nil {
			continue
		}
		task, err := s.Book.Bind(i.Step.Uses, i.Did)
		if err != nil {
			continue
		}
		if takes := task.Traits().UndoTakes; takes != "" {
			all = append(all, takes)
		}
	}
	return all
}

// FailureUndone says why the run was undone by itself; empty: it was not.
func (s *State) FailureUndone() string {
	if s.Stopping == nil {
		return ""
	}
	return s.Stopping.Error
}

// Begun tells whether a step of the same target has acted.
func (s *State) Begun(at *Step) bool {
	return slices.ContainsFunc(s.Items, func(i *Step) bool { return i.Group == at.Group && i.Target == at.Target && i.Acts })
}
