package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/runbook/journal"
	"plimsoll/series"
)

// keepRehearsals keeps, for each runbook that the trial ran, whether it was part of a trial that passed: one rehearsal a trial,
// however many rounds and cells it had, for each product, version and class of topology. A trial that expects nothing can
// prove nothing, and leaves none.
func keepRehearsals(ctx context.Context, r *runner, v result.Verdict) error {
	if r.runs == nil || r.options.State == nil || len(r.trial.Expect) == 0 && r.aborted == nil {
		return nil
	}
	dir, err := filepath.Abs(r.options.Dir)
	if err != nil {
		return fmt.Errorf("keep the rehearsals: %w", err)
	}
	passed := v.Verdict == analyze.Pass && !v.Partial
	var kept []rehearsed
	for i, run := range r.runs.all {
		if run.made {
			continue
		}
		one := run.state.Rehearsal(run.id, dir, passed)
		one.Nothing, one.Began = learnedNothing(v), r.started.UTC()
		if _, later := sameAs(r.runs.all[i+1:], one); later {
			continue // they were all done, or the trial had not passed: the last stands for them
		}
		for earlier, is := sameAs(r.runs.all[:i], one); is; earlier, is = sameAs(r.runs.all[:earlier], one) {
			one = one.With(r.runs.all[earlier].state.Rehearsal("", "", passed))
		}
		kept = append(kept, rehearsed{run.state.Header.Runbook, run.id, one})
	}
	var errs []error
	for _, k := range kept {
		errs = append(errs, k.Keep(context.WithoutCancel(ctx), r.options.State, k.name))
		detail := map[string]any{"run": k.run, "passed": k.Passed}
		if k.Nothing != "" {
			detail["nothing"] = k.Nothing
		}
		if inputs := k.apartFrom(kept); inputs != "" {
			detail["inputs"] = inputs
		}
		r.happened(series.Event{Kind: series.RehearsalKept, Name: k.name, Detail: detail})
	}
	return errors.Join(errs...)
}

// rehearsed is a rehearsal of a runbook that a trial leaves.
type rehearsed struct {
	name, run string
	journal.Rehearsal
}

// apartFrom are the inputs by which a rehearsal differs from others of the same runbook, such as algorithm=COPY; "" where there is one alone.
func (k rehearsed) apartFrom(all []rehearsed) string {
	var parts []string
	for _, input := range slices.Sorted(maps.Keys(k.Inputs)) {
		value := fmt.Sprint(k.Inputs[input])
		if slices.ContainsFunc(all, func(o rehearsed) bool { return o.name == k.name && fmt.Sprint(o.Inputs[input]) != value }) {
			parts = append(parts, input+"="+value)
		}
	}
	return strings.Join(parts, ", ")
}

// learnedNothing says why a trial taught nothing of the changes in it; "" if it passed or failed.
func learnedNothing(v result.Verdict) string {
	switch {
	case v.Verdict == analyze.Fail, v.Verdict == analyze.Pass && !v.Partial:
		return ""
	case v.Ended != nil && v.Ended.How == result.CouldNotRun:
		return "its trial could not run"
	case v.Partial && v.Verdict != analyze.Invalid:
		return "its trial was interrupted"
	}
	return fmt.Sprintf("its trial was %s", v.Verdict)
}

// sameAs finds the last of some runs that was of the same change on the same kind of cluster.
func sameAs(runs []ended, one journal.Rehearsal) (at int, found bool) {
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].state.Rehearsal("", one.Trial, one.Passed).SameChange(one) {
			return i, true
		}
	}
	return 0, false
}
