package journal

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// ChangedError refuses to go on with a run by actions whose meaning is another than when it was planned and approved.
type ChangedError struct {
	Run     string
	Actions []ChangedAction
}

// ChangedAction is an action of which this release has another version.
type ChangedAction struct {
	Name     string
	Was, Now int
}

func (e *ChangedError) Error() string {
	return "actions of the run changed since it was planned: " + ListChanged(e.Actions)
}

// ListChanged says which actions changed, for a sentence.
func ListChanged(all []ChangedAction) string {
	words := make([]string, len(all))
	for n, a := range all {
		words[n] = fmt.Sprintf("%s was version %d and is version %d in this release", a.Name, a.Was, a.Now)
	}
	return strings.Join(words, ", ")
}

// Hint says what to do.
func (e *ChangedError) Hint() string {
	return "continue with the release that planned it, or accept the change with a reason that is kept with the run: plimsoll runbook resume RUN --changed-actions REASON (plimsoll runbook rerun RUN and plimsoll runbook cancel RUN take the flag too)"
}

// UnfitError refuses to go on with a run whose runbook this release does not understand: an action or an input of one is gone.
type UnfitError struct{ Cause error }

func (e *UnfitError) Error() string {
	return "this release cannot execute the runbook of the run: " + OneLine(e.Cause)
}

// Hint says what to do.
func (e *UnfitError) Hint() string {
	return "continue with the release that planned it, or end the run as it is: plimsoll runbook cancel RUN --leave REASON"
}

// Unfit says why this release cannot go on with the run; nil: it can.
func (s *State) Unfit() error {
	if s.Book == nil || s.Book.Unfit == nil {
		return nil
	}
	return &UnfitError{s.Book.Unfit}
}

// ChangedActions lists the actions that are of another version here than when the run was planned, or when a person last agreed to that,
// and that the run would still use. Those whose steps are all over are nobody's concern.
func (s *State) ChangedActions(o Command) []ChangedAction {
	now, used := s.Book.Versions(), actionsUsed(s, o)
	var all []ChangedAction
	for _, name := range document.SortedKeys(now) {
		if was, known := s.Versions[name]; known && was != now[name] && used[name] {
			all = append(all, ChangedAction{Name: name, Was: was, Now: now[name]})
		}
	}
	return all
}

// actionsUsed tells which actions a session may use: of the steps that are not over or are to run again, and, where what was done may be taken
// back, of those that acted.
func actionsUsed(s *State, o Command) map[string]bool {
	used := map[string]bool{}
	use := func(step *runbook.Step) {
		used[step.Uses] = true
		if step.Undo != nil {
			used[step.Undo.Uses] = true
		}
	}
	undoes := o.Undo || s.Undoing || s.Book.OnFailure == runbook.FailureUndoes
	from := len(s.Items)
	if o.Do == DoRerun {
		from = slices.IndexFunc(s.Items, func(i *Step) bool { return i.Key == o.Step })
	}
	for n, i := range s.Items {
		again := n == from || o.Downstream && n > from
		if goesOn := o.Do != DoCancel && !i.Over(); goesOn || again || undoes && i.Acts {
			use(i.Step)
		}
	}
	for n := range s.Book.Steps {
		step := &s.Book.Steps[n]
		if _, known := s.Targets[step.ID]; step.Rolling != nil && !known && o.Do != DoCancel {
			runbook.EachStep(step.Steps, use)
		}
	}
	return used
}
