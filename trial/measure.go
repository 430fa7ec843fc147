package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/probe"
	"plimsoll/series"
	"plimsoll/workload"
)

// cell runs one cell in one round: from its servers, made ready, to the last phase.
func (r *runner) cell(ctx context.Context, c *cell, round int) error {
	s, err := r.serversFor(ctx, c)
	if err != nil {
		return err
	}
	if c.load.Rate.Share > 0 {
		if err := r.seek(ctx, c, s); err != nil {
			return err
		}
	}
	nodes, err := r.stage(ctx, c, round, s)
	if err != nil {
		return err
	}
	for _, call := range c.prepare {
		r.observe(Stage{Doing: Starting, Cell: c.Name, Round: round, Detail: call.Change, Share: -1})
		if err := r.change(ctx, c, round, s, call); err != nil {
			return err
		}
	}
	db, err := s.open(ctx, nodes...)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := r.verify(ctx, c, db); err != nil {
		return err
	}
	if err := c.workload.Adopt(ctx, db); err != nil {
		return fmt.Errorf("look at the data of %s: %w", c.load.Workload, err)
	}
	endProbes := r.probes(ctx, s)
	err = r.drive(ctx, c, round, s, db)
	endProbes()
	if err != nil {
		return err
	}
	return r.check(ctx, c, round, db)
}

// drive puts the cell under load, warms it up and goes through its phases.
func (r *runner) drive(ctx context.Context, c *cell, round int, s *servers, db engine.Database) error {
	seed := r.trial.Seed + uint64(round)
	spec := load.Spec{
		Operations: c.workload.Operations(), Connections: c.load.Connections,
		Limit: c.load.Limit, Timeout: c.load.Timeout,
	}
	if c.load.Open() {
		schedule, err := c.load.Schedule(r.maxima[c.data], time.Duration(r.trial.Phases.Warmup), seed)
		if err != nil {
			return err
		}
		spec.Schedule = schedule
	}
	loading, stop := context.WithCancel(ctx)
	defer stop()
	seconds := make(chan load.Second, 16)
	ended := make(chan error, 1)
	go func() {
		_, err := load.Run(loading, spec, c.workload.Connect(db, seed), func(s load.Second) { seconds <- s })
		close(seconds)
		ended <- err
	}()
	d := &drive{runner: r, cell: c, round: round, servers: s, db: db, seconds: seconds}
	err := d.run(loading)
	stop()
	d.guard()
	for range seconds { // the last, cut short, belongs to no phase
	}
	if loadErr := <-ended; loadErr != nil && !errors.Is(loadErr, context.Canceled) {
		err = errors.Join(fmt.Errorf("load: %w", loadErr), err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// errLoadEnded says that the load was over before its phases were.
var errLoadEnded = errors.New("the load ended by itself")

// errStillBusy says that an engine did not become quiet in time.
var errStillBusy = errors.New("still busy")

// drive is a cell under load.
type drive struct {
	*runner
	cell    *cell
	round   int
	servers *servers
	db      engine.Database
	seconds <-chan load.Second
	now     *stretch // the phase that is under way
	lost    int      // connections, at the end of the last second
}

func (d *drive) run(ctx context.Context) error {
	if err := d.warmUp(ctx); err != nil {
		return err
	}
	if len(d.trial.Timeline) == 0 {
		length := d.trial.Phases.Measure
		if d.cell.load.Rate.Staged() {
			length = d.cell.load.Rate.Length()
		}
		return d.stretch(ctx, "measure", length)
	}
	for _, step := range d.trial.Timeline {
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
func (d *drive) begin(phase string, length time.Duration, change bool) {
	at := time.Now()
	if d.now != nil {
		at = d.now.to // phases leave no gap
	}
	d.now = d.recording.begin(stretch{
		cell: d.cell.Name, round: d.round, phase: phase, operations: d.cell.workload.Operations(), from: at, change: change,
	})
	d.happened(series.Event{Time: at, Kind: "phase.start", Name: phase, Cell: d.cell.Name, Round: d.round})
	d.observe(PhaseBegan{Phase: Phase{Name: phase, Cell: d.cell.Name, Round: d.round, From: at}, Length: length})
}

// next waits for a second of load and books it under the phase.
func (d *drive) next(ctx context.Context) (load.Second, error) {
	select {
	case s, ok := <-d.seconds:
		if !ok {
			return s, errors.Join(ctx.Err(), errLoadEnded)
		}
		row, err := d.folder.second(d.cell.Name, d.round, d.now.phase, s)
		if err != nil {
			return s, err
		}
		if err := d.folder.signals(generatorPoints(s)); err != nil {
			return s, err
		}
		d.now.add(s)
		d.observe(Second{Row: row})
		d.connections(s)
		d.errorClasses(s)
		return s, nil
	case <-ctx.Done():
		return load.Second{}, ctx.Err()
	}
}

// connections makes events of connections lost and got back.
func (d *drive) connections(s load.Second) {
	before := d.lost
	d.lost = s.Guard.Lost
	if (d.lost > 0) == (before > 0) {
		return
	}
	kind := "load.lost"
	if d.lost == 0 {
		kind = "load.reconnected"
	}
	d.happened(series.Event{
		Time: s.Start, Kind: kind, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"connections": max(d.lost, before)},
	})
}

// errorClasses makes an event of a second's errors, by class.
func (d *drive) errorClasses(s load.Second) {
	classes := map[string]any{}
	for _, op := range s.Operations {
		for class, n := range op.ErrorClasses {
			before, _ := classes[class].(int64)
			classes[class] = before + n
		}
	}
	if len(classes) > 0 {
		d.happened(series.Event{Time: s.Start, Kind: "load.errors", Cell: d.cell.Name, Round: d.round, Detail: classes})
	}
}

// second is how often a load delivers what it measured.
const second = time.Second

// stretch is a phase in which only the load goes on.
func (d *drive) stretch(ctx context.Context, phase string, length time.Duration) error {
	d.begin(phase, length, false)
	d.observe(Stage{Doing: Measuring, Cell: d.cell.Name, Round: d.round, Detail: phase, Share: 0})
	for passed := time.Duration(0); length-passed > second/2; { // to the nearest whole second
		s, err := d.next(ctx)
		if err != nil {
			return err
		}
		passed += s.Length
	}
	return nil
}

// disturb is a phase in which a change is made.
func (d *drive) disturb(ctx context.Context, call Call) error {
	d.begin(call.Change, 0, true)
	d.observe(Stage{Doing: Disturbing, Cell: d.cell.Name, Round: d.round, Detail: call.Change, Share: -1})
	done := make(chan error, 1)
	go func() { done <- d.change(ctx, d.cell, d.round, d.servers, call) }()
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

// change runs a change and books when it began and ended.
func (r *runner) change(ctx context.Context, c *cell, round int, s *servers, call Call) error {
	change, _ := r.parts.change(call.Change)
	tell := func(e series.Event) {
		e.Cell, e.Round = c.Name, round
		r.happened(e)
	}
	tell(series.Event{Kind: "change.start", Name: call.Change})
	began := time.Now()
	err := change.Run(ctx, s.cluster, call, tell)
	end := series.Event{Kind: "change.end", Name: call.Change, Detail: map[string]any{"seconds": time.Since(began).Seconds()}}
	if err != nil {
		end.Detail["error"] = err.Error()
		err = fmt.Errorf("%s: %w", call.Change, err)
	}
	tell(end)
	return err
}

// check asks a workload that knows what must hold of its data whether it does.
func (r *runner) check(ctx context.Context, c *cell, round int, db engine.Database) error {
	checker, ok := c.workload.(workload.Checker)
	if !ok {
		return nil
	}
	detail := map[string]any{"consistent": true}
	if err := checker.Check(ctx, db); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		detail = map[string]any{"consistent": false, "error": err.Error()}
		r.refute("the data is not consistent after %s: %v", where(c.Name, round), err)
	}
	r.happened(series.Event{Kind: "data.checked", Name: c.load.Workload, Cell: c.Name, Round: round, Detail: detail})
	return nil
}

// refute adds a reason why the measurement itself is not to be believed.
func (r *runner) refute(format string, args ...any) {
	r.invalid = append(r.invalid, fmt.Sprintf(format, args...))
}

func where(cell string, round int) string {
	if cell == "" {
		return fmt.Sprintf("round %d", round)
	}
	return fmt.Sprintf("%s, round %d", cell, round)
}

// probes reads every node's signals while a cell is measured; the returned function ends that.
func (r *runner) probes(ctx context.Context, s *servers) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all []probe.Probe
	var open []engine.Database
	for _, node := range s.cluster.Nodes() {
		if node.PID == 0 {
			continue
		}
		all = append(all, probe.NewProcess(node.Name, r.site.Lab.Machine, func() int { return s.processOf(node.Name) }))
		if db, err := s.open(ctx, node.Name); err == nil {
			open = append(open, db)
			all = append(all, probe.NewStatus(node.Name, db))
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		probe.Collect(ctx, time.Second, all, func(points []series.Point) {
			if err := r.folder.signals(points); err != nil {
				r.site.Log.Warn("signals not written", "error", err)
			}
		}, func(err error) {
			r.happened(series.Event{Kind: "probe.failed", Detail: map[string]any{"error": err.Error()}})
		})
	}()
	return func() {
		cancel()
		<-ended
		for _, db := range open {
			_ = db.Close() // it was only read from
		}
	}
}

func (s *servers) processOf(name string) int {
	for _, node := range s.cluster.Nodes() {
		if node.Name == name {
			return node.PID
		}
	}
	return 0
}
