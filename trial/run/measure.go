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
	"plimsoll/workload"
)

// cell runs one cell in one round: from its servers, made ready, to the last phase.
func (r *runner) cell(ctx context.Context, c *spec.Cell, round int) error {
	r.at = where(c.Name, round)
	s, err := r.prepare(ctx, c)
	if err != nil {
		return err
	}
	if c.Load.Rate.Share > 0 {
		if err := r.seek(ctx, c, s); err != nil {
			return err
		}
	}
	nodes, err := r.stage(ctx, c, round, s)
	if err != nil {
		return err
	}
	prepare := c.Prepare
	if s.equipped {
		prepare = nil
	}
	s.equipped = c.Cluster.Machines != nil
	for _, call := range prepare {
		r.observe(progress.Stage{Doing: progress.Starting, Cell: c.Name, Round: round, Detail: call.Name(), Share: -1})
		if _, err := r.change(ctx, c, round, s, call); err != nil {
			return err
		}
	}
	sets := c.Datasets(nodes)
	all, err := s.openAll(ctx, sets)
	if err != nil {
		return err
	}
	defer func() { _ = closeAll(all) }() // the administrator only looked
	if err := r.verify(ctx, c, all[0]); err != nil {
		return err
	}
	if err := adopt(ctx, c, all, r.trial.Existing); err != nil {
		return lackingOr(ctx, r, s, err)
	}
	if err := foreseeCell(ctx, r, c, s, all[0]); err != nil {
		return err
	}
	loading, err := s.openLoads(ctx, c, sets)
	if err != nil {
		return err
	}
	defer func() { _ = closeAll(loading) }() // every operation has ended
	watching, unwatch := context.WithCancel(ctx)
	w := r.watch(s, sets)
	w.follow(watching, time.Minute)
	if expressions := r.trial.Watched(); len(expressions) > 0 {
		err = w.watchSeries(watching, expressions)
	}
	if err == nil {
		err = runCell(watching, r, c, round, s, sets, all[0], loading, w)
	}
	unwatch()
	w.end()
	r.recording.WarmAgain(c.Name, round, w.points)
	r.recording.Keep(c.Name, round, w.points, r.trial.NamesSignal)
	var failed *abort
	if c.Ledger != nil && (err == nil || errors.As(err, &failed)) { // a change that failed may have lost writes
		err = errors.Join(err, r.audit(ctx, c, round, loading[0]))
	}
	if err != nil {
		return err
	}
	for _, db := range all {
		if err := checkCell(ctx, r, c, round, db); err != nil {
			return err
		}
	}
	return nil
}

// runCell puts the cell under load, which comes from sources, warms it up and goes through its phases.
func runCell(ctx context.Context, r *runner, c *spec.Cell, round int, s *servers, sets []spec.Dataset, db engine.Database, sources []engine.Database, w *watch) error {
	seed := r.trial.Seed + uint64(round)
	operations := load.Spec{
		Operations: c.Workload.Operations(), Connections: c.Load.Connections,
		Limit: c.Load.Limit, Timeout: c.Load.Timeout,
	}
	if c.Load.Open() {
		schedule, err := c.Load.Schedule(r.maxima[c.Data], time.Duration(r.trial.Phases.Warmup), seed)
		if err != nil {
			return err
		}
		operations.Schedule = schedule
	}
	issue, over, err := r.issue(ctx, c, s, sets, sources, seed)
	if err != nil {
		return err
	}
	defer over.close()
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var beside <-chan error
	if c.Beside != nil {
		if beside, err = keepLedger(loading, c, sources[0], seed); err != nil {
			return err
		}
	}
	seconds := make(chan load.Second, 16)
	var all load.Summary
	ended := make(chan error, 1)
	go func() {
		var err error
		all, err = issue(loading, operations, func(s load.Second) { seconds <- s })
		close(seconds)
		ended <- err
	}()
	d := &cellRun{
		records: &r.records, trial: r.trial, cell: c, round: round, servers: s, db: db, seconds: seconds, watch: w, over: over, sources: sources,
		noise: r.looksAtNoise(c),
		change: func(ctx context.Context, call spec.Call) ([]judge.Span, error) {
			return r.change(ctx, c, round, s, call)
		},
	}
	r.live.Store(&d.metrics)
	err = d.run(loading)
	r.live.Store(nil)
	stop()
	d.guard()
	d.judgeHung()
	for range seconds { // the last, cut short, belongs to no phase
	}
	if beside != nil {
		err = errors.Join(<-beside, err)
	}
	if loadErr := <-ended; loadErr != nil && !errors.Is(loadErr, context.Canceled) {
		err = errors.Join(fmt.Errorf("load: %w", loadErr), err)
	}
	d.broke(all)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// errLoadEnded says that the load was over before its phases were.
var errLoadEnded = errors.New("the load ended by itself")

// errStillBusy says that an engine did not become quiet in time.
var errStillBusy = errors.New("still busy")

// checkCell asks a workload that knows what must hold of its data whether it does.
func checkCell(ctx context.Context, r *runner, c *spec.Cell, round int, db engine.Database) error {
	checker, ok := c.Workload.(workload.Checker)
	if !ok {
		return nil
	}
	detail := map[string]any{"consistent": true}
	if err := checker.Check(ctx, db); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		detail = map[string]any{"consistent": false, "error": err.Error()}
		r.invalidate("the data is not consistent after %s: %v", where(c.Name, round), err)
	}
	r.happened(series.Event{Kind: series.DataChecked, Name: c.Load.Workload, Cell: c.Name, Round: round, Detail: detail})
	return nil
}

func where(cell string, round int) string {
	if cell == "" {
		return fmt.Sprintf("round %d", round)
	}
	return fmt.Sprintf("%s, round %d", cell, round)
}
