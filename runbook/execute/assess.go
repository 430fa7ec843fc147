package execute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"plimsoll/action"
	"plimsoll/runbook/journal"
)

// unassessed lists the steps that were begun and not finished, and that nobody has looked at since: what came of them is not known.
// Those that are taken back anyhow are not looked at before. One that changes nothing is listed if it may have left something under way:
// its process died, or it could not tell how far it got.
func (r *runner) unassessed() []*journal.Step {
	undoes := r.state.Stopping == nil || r.state.Undoing
	var all []*journal.Step
	for _, i := range r.state.Items {
		begun := i.Acts && i.Phase != journal.StepDone && i.Phase != journal.StepUndoing && r.assessed[i.Key] == nil
		looks := begun && r.state.Looks(i)
		if begun && !looks && !(undoes && r.state.Reversible(i)) || looks && (i.Open || !r.written[i.Begun]) && mayOutlive(r, i) || mayHavePassed(r, i) {
			all = append(all, i)
		}
	}
	return all
}

// mayHavePassed tells whether a step of a run that is given up has acted, and may have left nothing behind.
func mayHavePassed(r *runner, i *journal.Step) bool {
	stop := r.state.Stopping
	return stop != nil && !r.state.Undoing && stop.Leave == "" && i.Acts && acted(i) && r.assessed[i.Key] == nil && journal.Passes(r.state, i)
}

// acted tells whether the act of a step has ended, and what it put out is known.
func acted(i *journal.Step) bool {
	return i.Phase == journal.StepDone || i.Phase == journal.StepVerifying && i.Intent == 0
}

// mayOutlive tells whether what a step began may go on without its process.
func mayOutlive(r *runner, i *journal.Step) bool {
	task, err := r.state.Book.Bind(i.Step.Uses, i.Did)
	_, goes := task.(action.InFlightWaiter)
	return err == nil && goes
}

// beginAssess waits for what the act of a step left under way, then looks at what came of it. It changes nothing.
func (r *runner) beginAssess(i *journal.Step) {
	key, uses, on, inputs, call := i.Key, i.Step.Uses, i.Cluster, i.Did, r.call(i)
	before, reached := i.Before, i.Reached
	look := assessStep
	if mayHavePassed(r, i) {
		call.Output, look = maps.Clone(i.Output), assessPassed
	}
	r.begin(key, looking, i.Step.Timeout, func(ctx context.Context, p *progress) (*journal.Event, error) {
		call.Progress = p.tell
		p.tell(-1, "checking its outcome")
		is, err := look(ctx, r, uses, on, inputs, before, call)
		if err != nil {
			is.Err = err
		}
		if reached != "" {
			is.Why += "; " + reached
		}
		return nil, &assessed{is}
	})
	r.jobs[key].assesses = true
}

// assessed brings an assessment back to the loop.
type assessed struct{ journal.Assessment }

func (a *assessed) Error() string { return "assessed: " + string(a.Is) }

// assessPassed looks whether something is left of a step that is done.
func assessPassed(ctx context.Context, r *runner, uses, on string, inputs map[string]any, _ action.Facts, call action.Call) (a journal.Assessment, err error) {
	task, err := r.state.Book.Bind(uses, inputs)
	if err != nil {
		return a, err
	}
	reading, err := r.reading.Cluster(ctx, on)
	if err != nil {
		return a, err
	}
	a.Is = journal.Passed
	if passer, is := task.(action.Passer); is {
		err = passer.Passed(ctx, reading, call.Output)
	}
	return a, err
}

func assessStep(ctx context.Context, r *runner, uses, on string, inputs map[string]any, before action.Facts, call action.Call) (a journal.Assessment, err error) {
	task, err := r.state.Book.Bind(uses, inputs)
	if err != nil {
		return a, err
	}
	reading, err := r.reading.Cluster(ctx, on)
	if err != nil {
		return a, err
	}
	if left, ok := task.(action.InFlightWaiter); ok {
		if err := left.AwaitInFlight(ctx, reading, call); err != nil {
			return a, err
		}
	}
	found, err := task.Check(ctx, reading)
	refused := action.FactsHold{}
	switch {
	case errors.As(err, &refused) && len(before) > 0 && same(before, found.Observed):
		a.Is = journal.Untouched
	case errors.As(err, &refused):
		a.Is, a.Why = journal.HalfDone, journal.OneLine(err)
	case err != nil:
		return a, err
	case found.State == action.Satisfied:
		a.Is = journal.Complete
	case found.State == action.Unknown:
		return a, fmt.Errorf("its outcome cannot be determined: %s", found.Reason)
	case len(before) > 0 && same(before, found.Observed):
		a.Is = journal.Untouched
	case len(before) == 0 || len(found.Observed) == 0:
		a.Is, a.Unchecked, a.Why = journal.HalfDone, true, "it has no check that could tell"
	default:
		a.Is, a.Why = journal.HalfDone, fmt.Sprintf("it is now %v; before it was %v, and intended was %v", found.Observed, before, found.Intended)
	}
	return a, nil
}

// same compares facts, of which one may have been through a journal.
func same(a, b action.Facts) bool {
	plain := func(f action.Facts) (m map[string]any) {
		data, err := json.Marshal(f)
		if err != nil || json.Unmarshal(data, &m) != nil {
			return maps.Clone(f)
		}
		return m
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

// refusal says why a cancellation is not taken; empty: it is. A cluster is given back as it is only when a person says so, or when
// others have it already.
func (r *runner) refusal() string {
	s, stop, run := r.state, r.state.Stopping, r.journal.Run()
	if stop.Leave != "" || stop.Error != "" || r.gone || s.Before.Over() {
		return ""
	}
	if i, how := r.assessed.Irrevocable(s); i != nil {
		stands := strings.Join(r.assessed.EffectsAfter(s, i), ", ")
		return fmt.Sprintf("step %s %s, and %s; what stays done: %s. The safe way is forward: plimsoll runbook resume %s finishes it; "+
			"plimsoll runbook cancel %s --leave REASON releases the cluster as it is", i.Key, how, journal.WhyItStays(s, i, "cannot be undone"), stands, run, run)
	}
	if stands := strings.Join(r.assessed.Effects(s), ", "); !s.Undoing && stands != "" {
		return fmt.Sprintf("what stays done: %s. plimsoll runbook cancel %s --undo undoes it, plimsoll runbook resume %s continues it, "+
			"plimsoll runbook cancel %s --leave REASON releases the cluster as it is", stands, run, run, run)
	}
	return ""
}
