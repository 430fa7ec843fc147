package runbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/runbook/action"
)

// runner executes one stint of a run: a loop that writes one event at a time, with jobs that work beside it.
type runner struct {
	service *Service
	journal *durable.Journal
	state   *State
	site    *action.Site
	reading *action.Site
	guard   *guard
	held    holdings // none for a runbook without a lock, and for a run that is given up

	outside context.Context // ends with the process alone
	acting  context.Context // of the jobs
	cut     context.CancelCauseFunc
	group   sync.WaitGroup
	jobs    map[string]*job
	results chan result
	written map[int]bool // numbers of the entries that this process wrote
	words   []durable.Message
	learned learned
	told    time.Time
}

// turn is how often the loop looks at what it is not woken by: messages, times.
const turn = 200 * time.Millisecond

// errParked ends a stint whose run has not ended.
var errParked = errors.New("parked")

// stint is durable.Work.
func (s *Service) stint(ctx context.Context, j *durable.Journal) (err error) {
	st, err := Fold(j.Entries(), s.Actions)
	if err != nil {
		return fmt.Errorf("run %s: %w", j.Run(), err)
	}
	r := &runner{
		service: s, journal: j, state: st, jobs: map[string]*job{}, results: make(chan result), written: map[int]bool{},
		outside: context.WithoutCancel(ctx),
	}
	if len(j.Entries()) == 0 {
		if err := r.beginRun(ctx); err != nil {
			return err
		}
	}
	h := r.state.Header
	if r.site, err = s.open(ctx, h.Cluster, h.clusters()); err != nil {
		return r.park(err.Error(), err)
	}
	r.reading = r.site.ReadOnly()
	defer func() { err = errors.Join(err, r.reading.Close(), r.site.Close()) }()
	var meter Meter
	if s.Meter != nil {
		meter = s.Meter(r.site)
	}
	r.guard = newGuard(r.state.Book, meter)
	if r.state.Baseline != nil {
		r.guard.restore(r.state.Baseline)
	}
	r.learned = s.learn(ctx, h.Runbook)
	if err := r.opened(ctx); err != nil {
		return err
	}
	return r.work(ctx)
}

// work runs what belongs to a stint beside its loop, and the loop.
func (r *runner) work(ctx context.Context) error {
	background, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { r.guard.watch(background) })
	for _, h := range r.held {
		beside.Go(func() { h.keep(background) })
	}
	r.acting, r.cut = context.WithCancelCause(ctx)
	defer r.cut(nil)
	err := r.loop(ctx)
	if err != nil && !errors.Is(err, errParked) {
		err = r.left(err)
	}
	r.cut(errParked)
	go r.group.Wait()
	for len(r.jobs) > 0 { // whatever still comes is not written: the next stint checks
		delete(r.jobs, (<-r.results).key)
	}
	stop()
	beside.Wait()
	err = errors.Join(err, r.giveBack(context.WithoutCancel(ctx)))
	r.tell(true)
	if errors.Is(err, errParked) {
		return nil
	}
	return err
}

// left says, of a stint that cannot go on, which steps it leaves in the middle.
func (r *runner) left(err error) error {
	var acting []string
	for _, i := range r.state.Items {
		if i.Phase == Acting || i.Phase == Reverting {
			acting = append(acting, i.Key)
		}
	}
	if len(acting) == 0 {
		return err
	}
	return fmt.Errorf("%w; step %s was acting: what came of it is not written, and is looked at first when the run goes on", err, strings.Join(acting, ", "))
}

func (r *runner) beginRun(ctx context.Context) error {
	run, err := r.service.Store.Run(ctx, r.journal.Run())
	if err != nil {
		return err
	}
	var h Header
	if err := json.Unmarshal(run.Header, &h); err != nil {
		return fmt.Errorf("read the header of %s: %w", run.ID, err)
	}
	return r.write(Event{Kind: Began, Header: &h})
}

// opened begins the stint: it takes the leases, and writes what it was begun for. A stint that its process's death
// interrupted has done so before; it takes them anew all the same, for the epoch.
func (r *runner) opened(ctx context.Context) error {
	var o Order
	if err := json.Unmarshal(r.journal.Order(), &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	e := Event{Kind: Opened, Holder: r.service.Holder, Epochs: r.state.Epochs}
	// To be given up, a run needs no lease: it may have lost it.
	if r.state.Book.Lock == LockCluster && (o.Do != "cancel" || o.Undo) {
		var err error
		if r.held, err = r.service.take(ctx, r.site, r.state, r.journal.Run()); err != nil {
			return r.park(err.Error(), err)
		}
		e.Epochs = r.held.epochs()
	}
	if !r.openedBefore() {
		e.Order = &o
	}
	return r.write(e)
}

// openedBefore tells whether this stint has written its order.
func (r *runner) openedBefore() bool {
	for _, entry := range r.journal.Entries() {
		var e Event
		if entry.Stint == r.journal.Stint() && json.Unmarshal(entry.Data, &e) == nil && e.Kind == Opened {
			return true
		}
	}
	return false
}

// giveBack gives the clusters back when the run has ended for good; one that failed keeps them.
func (r *runner) giveBack(ctx context.Context) error {
	if r.state.Book.Lock != LockCluster || r.state.Outcome == "" || r.state.Outcome == Broken {
		return nil
	}
	if len(r.held) > 0 {
		kept, err := r.held.release(ctx)
		if kept != nil {
			err = errors.Join(r.write(Event{Kind: Said, Reason: "the claim stays in the cluster until the next run from here: " + oneLine(kept)}), err)
		}
		return err
	}
	var all error
	for _, name := range r.state.Header.clusters() {
		if on, err := r.site.Cluster(ctx, name); err == nil && r.service.marker(on) != nil {
			// Its own claim, if it is still there; a target that is down keeps it until it runs out.
			_ = r.service.marker(on).Clear(ctx, r.service.claim(r.state, name, r.journal.Run()))
		}
		all = errors.Join(all, r.service.Store.Release(ctx, leaseName(name), r.journal.Run()))
	}
	return all
}

// write appends an event and folds it in.
func (r *runner) write(e Event) error {
	switch e.Kind {
	case Intended, Acted, Verified, Held, Ended:
		e.Metrics = r.guard.reading(time.Now())
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	entry, err := r.journal.Append(data)
	if err != nil {
		return err
	}
	r.written[entry.Number] = true
	if err := r.state.Apply(entry, r.service.Actions); err != nil {
		return err
	}
	r.service.observe(r.journal.Run(), e, entry)
	return nil
}

// park ends the stint and leaves the run for a later one.
func (r *runner) park(reason string, cause error) error {
	if err := r.write(Event{Kind: Parked, Reason: reason}); err != nil {
		return err
	}
	r.tell(true)
	return cause
}

func (r *runner) loop(ctx context.Context) error {
	tick := time.NewTicker(turn)
	defer tick.Stop()
	for {
		if r.state.Outcome != "" && len(r.jobs) == 0 {
			return r.remember(ctx)
		}
		e, err := r.decide(ctx)
		if err != nil {
			return err
		}
		if e != nil {
			if err := r.write(*e); err != nil {
				return err
			}
			r.tell(true)
			if e.Kind == Parked {
				return errParked
			}
			continue
		}
		r.beginJobs() //nolint:contextcheck // jobs have a context of their own: r.acting
		r.cutOff()
		r.tell(false)
		select {
		case res := <-r.results:
			if err := r.take(res); err != nil {
				return err
			}
		case <-tick.C:
			if r.words, err = r.service.Store.Messages(ctx, r.journal.Run(), r.state.Heard); err != nil {
				return err
			}
		case <-r.guard.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stopping tells why no new work is begun.
func (r *runner) stopping() (reason string) {
	select {
	case <-r.journal.Draining():
		return "interrupted by a person"
	default:
	}
	if r.held.lost() {
		return "another run took the cluster"
	}
	return ""
}

// broken returns the first step that failed for good.
func (r *runner) broken() *Item {
	for _, i := range r.state.Items {
		if i.Phase == Dead {
			return i
		}
	}
	return nil
}

// current lists the steps that may be worked on now, and the targets whose health is to be looked at first.
func (r *runner) current() (items []*Item, health []*Item, group *Step) {
	s := r.state
	for n := range s.Book.Steps {
		step := &s.Book.Steps[n]
		if step.Rolling == nil {
			if i := s.Item(step.ID); !i.Over() {
				return []*Item{i}, nil, nil
			}
			continue
		}
		targets, known := s.Targets[step.ID]
		if !known {
			return nil, nil, step
		}
		room := step.Rolling.MaxUnavailable
		for _, target := range targets {
			i := r.next(step, target)
			if i == nil || room == 0 {
				continue
			}
			room--
			if s.Healthy[step.ID+"["+target+"]"] {
				items = append(items, i)
			} else {
				health = append(health, i)
			}
		}
		if len(items)+len(health) > 0 {
			return items, health, nil
		}
	}
	return nil, nil, nil
}

// next is the first step of a target that is not over.
func (r *runner) next(group *Step, target string) *Item {
	for m := range group.Steps {
		if i := r.state.Item(Key(group.ID, target, group.Steps[m].ID)); !i.Over() {
			return i
		}
	}
	return nil
}

// beginJobs begins what is to be done and is not being done.
func (r *runner) beginJobs() {
	if r.stopping() != "" || r.state.Outcome != "" {
		return
	}
	if r.state.Stopping != nil {
		if i := r.reverting(); i != nil && r.jobs[i.Key] == nil {
			r.beginUndo(i)
		}
		return
	}
	if r.broken() != nil {
		return
	}
	items, health, _ := r.current()
	var busy []string
	for _, i := range items {
		busy = append(busy, i.Target)
	}
	for _, i := range health {
		if r.jobs[i.Group+"["+i.Target+"]"] == nil {
			r.beginHealth(r.state.Book.step(i.Group), i.Target, busy)
		}
	}
	for _, i := range items {
		if r.jobs[i.Key] != nil {
			continue
		}
		switch {
		case i.Phase == Checking && i.Finding == nil, i.Phase == Resting && !time.Now().Before(i.Until):
			r.beginCheck(i)
		case i.Phase == Acting && r.written[i.Intent]:
			r.beginAct(i)
		case i.Phase == Acting: // begun by a process that died: look first
			r.beginCheck(i)
		case i.Phase == Verifying:
			r.beginVerify(i)
		}
	}
}

// reverting is the step whose undo has begun.
func (r *runner) reverting() *Item {
	for _, i := range r.state.Items {
		if i.Phase == Reverting {
			return i
		}
	}
	return nil
}

// remember keeps how long the steps took, for the estimates of later runs.
func (r *runner) remember(ctx context.Context) error {
	if r.state.Outcome != Done {
		return nil
	}
	data, err := json.Marshal(r.state.timings())
	if err != nil {
		return fmt.Errorf("keep the timings: %w", err)
	}
	return r.service.Store.Keep(ctx, "timing", r.state.Header.Runbook, data)
}

// asProblem makes a problem of an input's place out of an error.
func asProblem(err error) string {
	var ps document.Problems
	if errors.As(err, &ps) {
		lines := make([]string, len(ps))
		for i, p := range ps {
			lines[i] = p.Text
		}
		return strings.Join(lines, "; ")
	}
	return err.Error()
}
