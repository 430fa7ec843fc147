package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"
)

// cellRun is a cell under load.
type cellRun struct {
	*records
	trial   *spec.Trial
	cell    *spec.Cell
	round   int
	servers *servers
	db      engine.Database
	seconds <-chan load.Second
	now     *judge.PhaseRecord // the phase that is under way
	metrics liveMetrics
	watch   *watch
	over    placing
	lost    int // connections, at the end of the last second
	sources []engine.Database
	avoids  []string // addresses that the load keeps away from, at the end of the last second
	hung    map[hang]time.Duration
	noise   time.Duration // that the noise of the load is looked at before anything is measured; 0: not at all
	change  func(context.Context, spec.Call) ([]judge.Span, error)

	health    *load.Health      // of the load generator, in the phase that is under way
	responses *series.Histogram // in it
}

func (d *cellRun) run(ctx context.Context) error {
	if err := d.warmUp(ctx); err != nil {
		return err
	}
	if d.noise > 0 {
		if err := d.lookAtNoise(ctx); err != nil {
			return err
		}
	}
	if err := giveDisk(ctx, d.trial, d.cell, d.servers, false); err != nil {
		return err
	}
	if len(d.cell.Timeline) == 0 {
		length := d.trial.Phases.Measure
		if d.cell.Load.Rate.Staged() {
			length = d.cell.Load.Rate.Length()
		}
		return d.phase(ctx, "measure", length)
	}
	for _, step := range d.cell.Timeline {
		var err error
		if step.Call == nil {
			err = d.phase(ctx, step.Phase, step.Length)
		} else {
			err = d.disturb(ctx, *step.Call)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin opens a phase; what is measured from now on belongs to it.
func (d *cellRun) begin(phase string, length time.Duration, change bool) {
	at := time.Now()
	if d.now != nil {
		at = d.now.To // phases leave no gap
	}
	d.now = d.recording.Begin(judge.PhaseRecord{
		Cell: d.cell.Name, Round: d.round, Phase: phase, Operations: d.cell.Workload.Operations(), From: at, Change: change, Open: d.cell.Load.Open(),
	})
	d.health, d.responses = load.NewHealth(), series.NewHistogram()
	d.at = where(d.cell.Name, d.round) + ", " + phase
	d.happened(series.Event{Time: at, Kind: series.PhaseStart, Name: phase, Cell: d.cell.Name, Round: d.round})
	d.observe(progress.PhaseBegan{Phase: result.Phase{Name: phase, Cell: d.cell.Name, Round: d.round, From: at}, Length: length})
}

// next waits for a second of load and books it under the phase.
func (d *cellRun) next(ctx context.Context) (load.Second, error) {
	select {
	case s, ok := <-d.seconds:
		if !ok {
			return s, errors.Join(ctx.Err(), errLoadEnded)
		}
		row, err := d.folder.Second(d.cell.Name, d.round, d.now.Phase, s)
		if err != nil {
			return s, err
		}
		own := append(spec.GeneratorPoints(s), d.over.shares(s.Start.Add(s.Length))...)
		if err := d.folder.Signals(own); err != nil {
			return s, err
		}
		d.watch.remember(own)
		d.now.Add(s)
		if d.trial.RunsRunbooks() { // whose guardrails ask
			d.metrics.add(d.now.All[len(d.now.All)-1], d.now.Phase)
		}
		d.health.Add(s.Guard)
		d.responses.Add(d.now.All[len(d.now.All)-1].Response)
		d.observe(progress.Second{Row: row, Generator: d.generator()})
		d.connections(s)
		d.avoided(s)
		d.errorClasses(s)
		return s, nil
	case <-ctx.Done():
		return load.Second{}, ctx.Err()
	}
}

// connections makes events of connections lost and got back.
func (d *cellRun) connections(s load.Second) {
	before := d.lost
	d.lost = s.Guard.Lost
	if (d.lost > 0) == (before > 0) {
		return
	}
	kind := series.LoadLost
	if d.lost == 0 {
		kind = series.LoadReconnected
	}
	d.happened(series.Event{
		Time: s.Start, Kind: kind, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"connections": max(d.lost, before)},
	})
}

// avoided makes events of nodes that the load keeps away from because they owe it answers, and to which it returns. What
// hangs while nothing is done to the cluster is no part of the question: a baseline with it is none.
func (d *cellRun) avoided(s load.Second) {
	var now []string
	for _, db := range d.sources {
		if a, ok := engine.As[engine.Avoiding](db); ok {
			now = append(now, a.Avoids()...)
		}
	}
	slices.Sort(now)
	now = slices.Compact(now)
	tell := func(kind series.EventKind, here, there []string) {
		for _, address := range here {
			if !slices.Contains(there, address) {
				d.happened(series.Event{Time: s.Start, Kind: kind, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"address": address}})
			}
		}
	}
	tell(series.LoadAvoids, now, d.avoids)
	tell(series.LoadReturns, d.avoids, now)
	d.avoids = now
	for _, address := range now {
		if d.hung == nil {
			d.hung = map[hang]time.Duration{}
		}
		d.hung[hang{d.now.Phase, address}] += time.Second
	}
}

// hang is where and when a node owed answers.
type hang struct{ phase, address string }

// errorClasses makes an event of a second's errors, by class.
func (d *cellRun) errorClasses(s load.Second) {
	classes := map[string]any{}
	for _, op := range s.Operations {
		for class, n := range op.ErrorClasses {
			before, _ := classes[class].(int64)
			classes[class] = before + n
		}
	}
	if len(classes) > 0 {
		d.happened(series.Event{Time: s.Start, Kind: series.LoadErrors, Cell: d.cell.Name, Round: d.round, Detail: classes})
	}
}

// phase is a phase in which only the load goes on.
func (d *cellRun) phase(ctx context.Context, phase string, length time.Duration) error {
	d.begin(phase, length, false)
	detail := phase
	if len(d.cell.Timeline) == 0 { // the name of the only phase says nothing new
		detail = ""
	}
	d.observe(progress.Stage{Doing: progress.Measuring, Cell: d.cell.Name, Round: d.round, Detail: detail, Share: 0})
	for passed := time.Duration(0); length-passed > judge.Second/2; { // to the nearest whole second
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
	}
	return nil
}
