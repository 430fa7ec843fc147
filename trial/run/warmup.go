package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/trial/expect"
	"plimsoll/trial/progress"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/series"
)

// warmUp lets the load run until the service is steady and the engine quiet, or for the time that the trial says.
func (d *cellRun) warmUp(ctx context.Context) error {
	length := time.Duration(d.trial.Phases.Warmup)
	d.begin(expect.Warmup, length, false)
	if length > 0 {
		return d.warmFor(ctx, length)
	}
	steady := analyze.NewSteady(analyze.SteadyOptions{Horizon: max(loadTime(d.trial), 10*time.Second)})
	limit := d.trial.Phases.WarmupLimit
	for passed := time.Duration(0); ; {
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
		steady.Add(d.now.All[len(d.now.All)-1])
		why := steady.Why()
		if why == "" {
			why = restless(pendingWork(ctx, d.db))
		}
		if why == "" {
			d.happened(series.Event{Kind: series.WarmupSteady, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"seconds": passed.Seconds()}})
			return nil
		}
		if passed >= limit {
			d.happened(series.Event{Kind: series.WarmupTimeout, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"why": why}})
			d.note("Not steady after %v of warm-up, but measured anyway: %s (%s).", limit, why, where(d.cell.Name, d.round))
			return nil
		}
		d.observe(progress.Stage{Doing: progress.WarmingUp, Cell: d.cell.Name, Round: d.round, Detail: why, Share: -1})
	}
}

func (d *cellRun) warmFor(ctx context.Context, length time.Duration) error {
	for passed := time.Duration(0); passed < length; {
		d.observe(progress.Stage{Doing: progress.WarmingUp, Cell: d.cell.Name, Round: d.round, Share: float64(passed) / float64(length)})
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
	}
	return nil
}

// pendingWork asks an engine what it still works off; nothing where it has no way to tell.
func pendingWork(ctx context.Context, db engine.Database) ([]engine.Pending, error) {
	q, ok := engine.As[engine.Metered](db)
	if !ok {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return q.PendingWork(ctx)
}

// restless says what of it is too much to be quiet, "" for nothing. An engine that gives no answer is taken to be too busy for
// one.
func restless(pending []engine.Pending, err error) string {
	if errors.Is(err, errStillBusy) {
		return "it still had work to do"
	}
	if err != nil {
		return "Plimsoll cannot tell whether the engine is quiet: " + err.Error()
	}
	for _, p := range pending {
		if p.Value > p.Calm {
			return fmt.Sprintf("%s is %s, quiet at %s", p.Signal, plainly(p.Value), plainly(p.Calm))
		}
	}
	return ""
}

// plainly writes a number as people do: three digits, or as many as it has before the point.
func plainly(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// After loading, what stays within so many times the level of quiet for so long is a drift of no consequence: waiting for its
// end could take as long as one likes.
const (
	driftAtMost = 3
	driftFor    = 10 * time.Second
)

// pendingWatch watches whether pending work has become little.
type pendingWatch struct{ since time.Time }

// low tells whether all has been little for long enough.
func (e *pendingWatch) low(pending []engine.Pending, err error, now time.Time) bool {
	much := func(p engine.Pending) bool { return p.Value > driftAtMost*p.Calm }
	switch {
	case err != nil || slices.ContainsFunc(pending, much):
		e.since = time.Time{}
	case e.since.IsZero():
		e.since = now
	}
	return !e.since.IsZero() && now.Sub(e.since) >= driftFor
}

// stillBusy is the note on an engine that did not become quiet in time, or of which nobody can tell.
func stillBusy(most time.Duration, why string, err error) string {
	if err != nil {
		return fmt.Sprintf("After loading, Plimsoll asked the engine for %v whether it is quiet, and got no answer: %v.", most, err)
	}
	return fmt.Sprintf("After loading, the engine was still busy after %v: %s.", most, why)
}

// waitQuiet waits until the engine has worked off what was asked of it, at most so long.
func (r *runner) waitQuiet(ctx context.Context, db engine.Database, most time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errStillBusy)
	defer cancel()
	again := time.NewTicker(500 * time.Millisecond)
	defer again.Stop()
	var ebb pendingWatch
	for {
		pending, err := pendingWork(ctx, db)
		why := restless(pending, err)
		if why == "" || ebb.low(pending, err, time.Now()) {
			return nil
		}
		r.observe(progress.Stage{Doing: progress.Settling, Detail: why, Share: -1})
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errStillBusy) {
				r.note("%s", stillBusy(most, why, err))
				return nil
			}
			return ctx.Err()
		case <-again.C:
		}
	}
}
