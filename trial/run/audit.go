package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"
)

// keepLedger runs the ledger beside the workload until ctx ends, and tells what became of that.
func keepLedger(ctx context.Context, c *spec.Cell, source engine.Database, seed uint64) (<-chan error, error) {
	l := c.Load.Ledger
	schedule, err := load.Poisson(seed, load.Constant(l.Rate.Curve[0].From))
	if err != nil {
		return nil, err
	}
	spec := load.Spec{
		Operations: c.Beside.Operations(), Connections: l.Connections, Schedule: schedule, Timeout: c.Load.Timeout,
	}
	ended := make(chan error, 1)
	go func() {
		_, err := load.Run(ctx, spec, c.Beside.Connect(source, seed), nil)
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("ledger: %w", err)
		}
		ended <- err
	}()
	return ended, nil
}

// audit asks what became of the writes that were acknowledged in a cell, on the servers that the load went to.
func (r *runner) audit(ctx context.Context, c *spec.Cell, round int, source engine.Database) error {
	began := time.Now()
	audit, err := c.Ledger.Audit(ctx, source, func(done, total int64, what string) {
		share := -1.0
		if total > 0 {
			share = float64(done) / float64(total)
		}
		r.observe(progress.Stage{Doing: progress.Auditing, Cell: c.Name, Round: round, Detail: what, Share: share})
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the expectations that need it cannot be told
		r.happened(series.Event{Kind: series.LedgerUnread, Cell: c.Name, Round: round, Detail: map[string]any{"error": err.Error()}})
		r.note("Plimsoll cannot tell whether acknowledged writes were lost (%s): %v.", where(c.Name, round), err)
		audit = nil
	}
	r.recording.Audits = append(r.recording.Audits, judge.Audited{Cell: c.Name, Round: round, Audit: audit})
	if audit == nil {
		return nil
	}
	r.happened(series.Event{Kind: series.LedgerAudited, Cell: c.Name, Round: round, Detail: map[string]any{
		"seconds": time.Since(began).Seconds(), "acknowledged": audit.Acknowledged, "in_doubt": audit.InDoubt, "in_doubt_found": audit.Found,
		"reads": audit.Reads, "lost": len(audit.Lost), "duplicated": len(audit.Duplicated), "stale": len(audit.Stale), "corrupt": len(audit.Corrupt),
	}})
	return nil
}
