package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/result"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/series"
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
	if err := adopt(ctx, c, all); err != nil {
		return err
	}
	if err := r.foreseeCell(ctx, c, s, all[0]); err != nil {
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
	if err = w.watchSeries(watching); err == nil {
		err = r.runCell(watching, c, round, s, sets, all[0], loading, w)
	}
	unwatch()
	w.end()
	r.recording.WarmAgain(c.Name, round, w.points)
	r.recording.Keep(c.Name, round, w.points, r.trial.NamesSignal)
	var failed *abort
	if err == nil || errors.As(err, &failed) { // a change that failed may have lost writes
		err = errors.Join(err, r.audit(ctx, c, round, loading[0]))
	}
	if err != nil {
		return err
	}
	for _, db := range all {
		if err := r.check(ctx, c, round, db); err != nil {
			return err
		}
	}
	return nil
}

// runCell puts the cell under load, which comes from sources, warms it up and goes through its phases.
func (r *runner) runCell(ctx context.Context, c *spec.Cell, round int, s *servers, sets []spec.Dataset, db engine.Database, sources []engine.Database, w *watch) error {
	seed := r.trial.Seed + uint64(round)
	spec := load.Spec{
		Operations: c.Workload.Operations(), Connections: c.Load.Connections,
		Limit: c.Load.Limit, Timeout: c.Load.Timeout,
	}
	if c.Load.Open() {
		schedule, err := c.Load.Schedule(r.maxima[c.Data], time.Duration(r.trial.Phases.Warmup), seed)
		if err != nil {
			return err
		}
		spec.Schedule = schedule
	}
	issue, over, err := r.issue(ctx, c, s, sets, sources, seed)
	if err != nil {
		return err
	}
	defer over.close()
	loading, stop := context.WithCancel(ctx)
	defer stop()
	kept, err := r.keep(loading, c, sources[0], seed)
	if err != nil {
		return err
	}
	seconds := make(chan load.Second, 16)
	var all load.Summary
	ended := make(chan error, 1)
	go func() {
		var err error
		all, err = issue(loading, spec, func(s load.Second) { seconds <- s })
		close(seconds)
		ended <- err
	}()
	d := &cellRun{runner: r, cell: c, round: round, servers: s, db: db, seconds: seconds, watch: w, over: over, sources: sources}
	r.felt.Store(&d.feels)
	err = d.run(loading)
	r.felt.Store(nil)
	stop()
	d.guard()
	d.judgeHung()
	for range seconds { // the last, cut short, belongs to no phase
	}
	if keepErr := <-kept; keepErr != nil {
		err = errors.Join(keepErr, err)
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

// cellRun is a cell under load.
type cellRun struct {
	*runner
	cell    *spec.Cell
	round   int
	servers *servers
	db      engine.Database
	seconds <-chan load.Second
	now     *judge.PhaseRecord // the phase that is under way
	feels   liveMetrics
	watch   *watch
	over    placing
	lost    int // connections, at the end of the last second
	sources []engine.Database
	avoids  []string // addresses that the load keeps away from, at the end of the last second
	hung    map[hang]time.Duration
}

func (d *cellRun) run(ctx context.Context) error {
	if err := d.warmUp(ctx); err != nil {
		return err
	}
	if err := d.lookAtNoise(ctx); err != nil {
		return err
	}
	if err := d.giveDisk(ctx, d.cell, d.servers, false); err != nil {
		return err
	}
	if len(d.cell.Timeline) == 0 {
		length := d.trial.Phases.Measure
		if d.cell.Load.Rate.Staged() {
			length = d.cell.Load.Rate.Length()
		}
		return d.stretch(ctx, "measure", length)
	}
	for _, step := range d.cell.Timeline {
		var err error
		if step.Call == nil {
			err = d.stretch(ctx, step.Phase, step.Length)
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
		d.feels.add(d.now.All[len(d.now.All)-1], d.now.Phase)
		d.observe(progress.Second{Row: row})
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

// stretch is a phase in which only the load goes on.
func (d *cellRun) stretch(ctx context.Context, phase string, length time.Duration) error {
	d.begin(phase, length, false)
	d.observe(progress.Stage{Doing: progress.Measuring, Cell: d.cell.Name, Round: d.round, Detail: phase, Share: 0})
	for passed := time.Duration(0); length-passed > judge.Second/2; { // to the nearest whole second
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
	}
	return nil
}

// disturb is a phase in which a change is made. One that follows another under the same name belongs to that one's phase.
func (d *cellRun) disturb(ctx context.Context, call spec.Call) error {
	goesOn := d.now != nil && d.now.Change && d.now.Phase == call.Name()
	if !goesOn {
		d.begin(call.Name(), 0, true)
	}
	d.observe(progress.Stage{Doing: progress.Disturbing, Cell: d.cell.Name, Round: d.round, Detail: call.Name(), Share: -1})
	now, began, done := d.now, time.Now(), make(chan error, 1)
	go func() {
		if !goesOn {
			now.Before = d.watch.look(ctx)
			_, now.Primary = d.servers.shown(ctx)
		}
		moved, promoted := d.shuffling(ctx), d.promoting(ctx)
		changed := make(chan error, 1)
		go func() {
			steps, err := d.change(ctx, d.cell, d.round, d.servers, call)
			now.Steps = append(now.Steps, steps...)
			for _, step := range steps {
				if call.Book.Looks(step.Key) {
					now.Looks = append(now.Looks, step.Key)
				}
			}
			changed <- err
		}()
		err := d.attend(ctx, now, changed)
		now.Promotions = append(now.Promotions, promoted()...)
		now.Streams = append(now.Streams, d.flowing(append(d.streams(ctx), moved()...), began)...)
		d.over.move(d.servers.serving())
		done <- err
	}()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			running = false
		default:
		}
		if _, err := d.next(ctx); err != nil { // also the second in which the change ended
			if running {
				err = errors.Join(err, <-done)
			}
			return err
		}
	}
	return nil
}

// change runs a change or a runbook and books when it began and ended. It returns the steps of a runbook.
func (r *runner) change(ctx context.Context, c *spec.Cell, round int, s *servers, call spec.Call) ([]judge.Span, error) {
	tell := func(e series.Event) {
		e.Cell, e.Round = c.Name, round
		r.happened(e)
	}
	tell(series.Event{Kind: series.ChangeStart, Name: call.Name()})
	began := time.Now()
	steps, err := r.carryOut(ctx, c, round, s, call, tell)
	end := series.Event{Kind: series.ChangeEnd, Name: call.Name(), Detail: map[string]any{"seconds": time.Since(began).Seconds()}}
	if err != nil {
		end.Detail["error"] = err.Error()
		err = fmt.Errorf("%s: %w", call.Name(), err)
	}
	tell(end)
	return steps, err
}

func (r *runner) carryOut(ctx context.Context, c *spec.Cell, round int, s *servers, call spec.Call, tell func(series.Event)) ([]judge.Span, error) {
	if call.Book != nil {
		steps, err := r.execute(ctx, s, call, tell, func(step string) {
			r.observe(progress.Stage{Doing: progress.Disturbing, Cell: c.Name, Round: round, Detail: call.Name() + ", step " + step, Share: -1})
		})
		return steps, r.refusal(call, err, tell)
	}
	change, _ := r.parts.Change(call.Change)
	if _, unsettles := change.(spec.ResettingSettings); unsettles {
		s.unsettled = true
	}
	return nil, change.Run(ctx, s.cluster, call, tell)
}

// check asks a workload that knows what must hold of its data whether it does.
func (r *runner) check(ctx context.Context, c *spec.Cell, round int, db engine.Database) error {
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

// invalidate adds a reason why the measurement itself is not to be believed.
func (r *runner) invalidate(format string, args ...any) {
	r.invalid = append(r.invalid, fmt.Sprintf(format, args...))
}

func where(cell string, round int) string {
	if cell == "" {
		return fmt.Sprintf("round %d", round)
	}
	return fmt.Sprintf("%s, round %d", cell, round)
}
