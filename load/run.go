package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/internal/poll"
)

// Runner issues a load as Run does, from wherever it is issued: this process, or several on other machines.
type Runner func(ctx context.Context, spec Spec, each func(Second)) (Summary, error)

// Here is the runner that issues a load from this process.
func Here(connect Connect) Runner {
	return func(ctx context.Context, spec Spec, each func(Second)) (Summary, error) {
		return Run(ctx, spec, connect, each)
	}
}

// Run issues a load until its duration has passed, its schedule is over or ctx ends, whichever comes first, and returns
// what it was in all. Each second, and what is left at the end, is handed to each, from one goroutine; it may be nil, and
// it may be slow: up to 64 seconds wait for it.
//
// Response time counts from the intended start, which in a closed loop is the actual one; service time from the actual
// one; waiting time is the difference. When the load ends, operations that were due and not started are skipped; those
// under way may take Spec.Grace longer, and are then interrupted and booked as errors of class "timeout". Every
// operation is booked once, in the second in which it ended: the tallies balance whenever and however a run is stopped.
//
// A lost connection is re-opened at once, or as soon as the server lets it. Meanwhile an open loop gives its operations to
// the other connections; those that find none free fail with class "unavailable" instead of piling up. In a closed loop
// each failed attempt to re-open a connection, four to ten a second, is such an error.
//
// An error means that the load did not begin: a spec that makes no sense, a connection that cannot be made.
func Run(ctx context.Context, spec Spec, connect Connect, each func(Second)) (Summary, error) {
	if err := spec.Validate(); err != nil {
		return Summary{}, err
	}
	spec = spec.withDefaults()
	defer processCollector.holdBack()()
	r := &run{
		spec:     spec,
		recorder: newRecorder(spec.Operations, spec.Schedule != nil),
		attempts: make(chan struct{}, attemptsAtOnce),
	}
	defer r.close()
	if err := r.connect(ctx, connect); err != nil {
		return Summary{}, err
	}
	begin, err := r.begin(ctx)
	if err != nil {
		return Summary{}, err
	}
	return r.issue(ctx, begin, each), nil
}

// run is a load under way.
type run struct {
	spec       Spec
	workers    []*worker
	recorder   *recorder
	dispatcher *dispatcher // nil: closed loop

	begun   time.Time
	stop    atomic.Int64 // no operation starts at or after it
	stopped bool
	lost    atomic.Int64 // connections

	endIssue  context.CancelFunc // when no more operations start
	endWork   context.CancelFunc // when the operations under way are given up
	reopening sync.WaitGroup
	attempts  chan struct{} // holds one for each attempt to re-open a connection
}

// now is the time since the load began. All moments of a load are.
func (r *run) now() time.Duration { return time.Since(r.begun) }

func (r *run) stopAt() time.Duration { return time.Duration(r.stop.Load()) }

// connectAtOnce is how many connections are made at the same time.
const connectAtOnce = 16

func (r *run) connect(ctx context.Context, connect Connect) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.workers = make([]*worker, r.spec.Connections)
	numbers := make(chan int)
	var dialing sync.WaitGroup
	for range min(connectAtOnce, len(r.workers)) {
		dialing.Go(func() {
			for n := range numbers {
				client, err := connect(ctx, r.spec.FirstWorker+n)
				if err != nil {
					cancel(fmt.Errorf("connect worker %d: %w", r.spec.FirstWorker+n, err))
					continue
				}
				r.workers[n] = &worker{run: r, client: client, journal: journal{started: resting}}
			}
		})
	}
	for n := range r.workers {
		if ctx.Err() != nil {
			break
		}
		numbers <- n
	}
	close(numbers)
	dialing.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.spec.Schedule == nil {
		return nil
	}
	for _, w := range r.workers {
		var err error
		if w.alarm, err = r.spec.NewAlarm(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) close() {
	for _, w := range r.workers {
		if w == nil {
			continue
		}
		_ = w.client.Close() // everything that it did is booked
		if w.alarm != nil {
			_ = w.alarm.Close()
		}
	}
}

// begin waits for the moment at which the load begins.
func (r *run) begin(ctx context.Context) (time.Time, error) {
	if r.spec.Begin == nil {
		return time.Now(), nil
	}
	at, err := r.spec.Begin(ctx)
	if err != nil {
		return at, err
	}
	if poll.Rest(ctx, time.Until(at)) != nil {
		return at, ctx.Err()
	}
	return at, nil
}

// issue runs the workers and the clockwork to the end.
func (r *run) issue(ctx context.Context, begin time.Time, each func(Second)) Summary {
	work, endWork := context.WithCancel(context.WithoutCancel(ctx)) // the end is orderly
	issue, endIssue := context.WithCancel(work)
	r.endWork, r.endIssue = endWork, endIssue
	defer endWork()
	r.begun = begin
	r.stop.Store(int64(never))
	if r.spec.Duration > 0 {
		r.stop.Store(int64(r.spec.Duration))
	}
	if r.spec.Schedule != nil {
		r.dispatcher = newDispatcher(r, r.workers)
	}

	seconds := make(chan Second, 64)
	var delivery sync.WaitGroup
	delivery.Go(func() {
		for s := range seconds {
			if each != nil {
				each(s)
			}
		}
	})
	c := newClockwork(r, seconds)
	c.keepTime(ctx, r.start(issue, work))
	close(seconds)
	delivery.Wait()
	return c.summary()
}

// start sets the workers to work: they start operations until issue ends, and give up what is under way when work does.
// The channel closes when the last has ended.
func (r *run) start(issue, work context.Context) <-chan struct{} {
	var working sync.WaitGroup
	for _, w := range r.workers {
		working.Go(func() {
			if r.dispatcher != nil {
				w.openLoop(issue, work)
			} else {
				w.closedLoop(issue, work)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		working.Wait()
		r.reopening.Wait()
		close(ended)
	}()
	return ended
}

// stopWorkers lets no operation start from now on.
func (r *run) stopWorkers() {
	r.stop.Store(min(r.stop.Load(), int64(r.now())))
	r.stopped = true
	r.endIssue()
	if r.dispatcher != nil {
		r.dispatcher.stop(r.workers)
	}
}
