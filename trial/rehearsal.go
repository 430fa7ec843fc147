package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"plimsoll/analyze"
	"plimsoll/runbook"
	"plimsoll/series"
)

// RehearsalKept is the kind of the event that a rehearsal was kept in the state folder.
const RehearsalKept = "rehearsal"

// keepRehearsals keeps, for each runbook that the trial ran, whether it was part of a trial that passed: one rehearsal a trial,
// however many rounds and cells it had, for each product, version and class of topology. A trial that expects nothing can
// prove nothing, and leaves none.
func (r *runner) keepRehearsals(ctx context.Context, v Verdict) error {
	if r.runs == nil || r.site.State == nil || len(r.trial.Expect) == 0 && r.halted == nil {
		return nil
	}
	dir, err := filepath.Abs(r.site.Dir)
	if err != nil {
		return fmt.Errorf("keep the rehearsals: %w", err)
	}
	passed := v.Verdict == analyze.Pass && !v.Partial
	var errs []error
	for i, run := range r.runs.all {
		one := run.state.Rehearsal(run.id, dir, passed)
		if laterOf(r.runs.all[i+1:], one) {
			continue // they were all done, or the trial had not passed: the last stands for them
		}
		name := run.state.Header.Runbook
		errs = append(errs, one.Keep(context.WithoutCancel(ctx), r.site.State, name))
		r.happened(series.Event{Kind: RehearsalKept, Name: name, Detail: map[string]any{"run": run.id, "passed": one.Passed}})
	}
	return errors.Join(errs...)
}

// laterOf tells whether a later run was of the same runbook on the same kind of cluster.
func laterOf(runs []ended, one runbook.Rehearsal) bool {
	for _, run := range runs {
		other := run.state.Rehearsal(run.id, one.Trial, one.Passed)
		if other.Hash == one.Hash && maps.Equal(other.Versions, one.Versions) && other.Product == one.Product &&
			other.Minor == one.Minor && other.Topology == one.Topology {
			return true
		}
	}
	return false
}
