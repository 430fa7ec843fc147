package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/series"
)

// warmUp lets the load run until the service is steady and the engine quiet, or for the time that the trial says.
func (d *drive) warmUp(ctx context.Context) error {
	length := time.Duration(d.trial.Phases.Warmup)
	d.begin(warmup, length, false)
	if length > 0 {
		return d.warmFor(ctx, length)
	}
	steady := analyze.NewSteady(analyze.SteadyOptions{Horizon: max(d.trial.length(), 10*time.Second)})
	limit := d.trial.Phases.WarmupLimit
	for passed := time.Duration(0); ; {
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
		steady.Add(d.now.all[len(d.now.all)-1])
		why := steady.Why()
		if why == "" {
			why = restless(ctx, d.db)
		}
		if why == "" {
			d.happened(series.Event{Kind: "warmup.steady", Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"seconds": passed.Seconds()}})
			return nil
		}
		if passed >= limit {
			d.happened(series.Event{Kind: "warmup.timeout", Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"why": why}})
			d.note("Not steady after %v of warm-up, measured all the same: %s (%s).", limit, why, where(d.cell.Name, d.round))
			return nil
		}
		d.observe(Stage{Doing: WarmingUp, Cell: d.cell.Name, Round: d.round, Detail: why, Share: -1})
	}
}

func (d *drive) warmFor(ctx context.Context, length time.Duration) error {
	for passed := time.Duration(0); passed < length; {
		d.observe(Stage{Doing: WarmingUp, Cell: d.cell.Name, Round: d.round, Share: float64(passed) / float64(length)})
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
	}
	return nil
}

// restless says what an engine still works off, "" when it is quiet or has no way to tell. One that gives no answer is
// taken to be too busy for one.
func restless(ctx context.Context, db engine.Database) string {
	q, ok := db.(engine.Quiet)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	pending, err := q.Unrest(ctx)
	if err != nil {
		return "the engine does not say whether it is quiet: " + err.Error()
	}
	for _, p := range pending {
		if p.Value > p.Calm {
			return fmt.Sprintf("%s is %.3g, quiet at %.3g", p.Signal, p.Value, p.Calm)
		}
	}
	return ""
}

// waitQuiet waits until the engine has worked off what was asked of it, at most so long.
func (r *runner) waitQuiet(ctx context.Context, db engine.Database, most time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errStillBusy)
	defer cancel()
	again := time.NewTicker(500 * time.Millisecond)
	defer again.Stop()
	for {
		why := restless(ctx, db)
		if why == "" {
			return nil
		}
		r.observe(Stage{Doing: Loading, Detail: why, Share: -1})
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errStillBusy) {
				r.note("After loading, the engine was still busy after %v: %s.", most, why)
				return nil
			}
			return ctx.Err()
		case <-again.C:
		}
	}
}
