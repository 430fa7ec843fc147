package web

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// turn executes runs, as the commands do: it takes the right to execute when there is something to execute and gives it back when all of
// it has ended, so that the command line can execute too. While another process has the right, it waits for its turn.
type turn struct {
	runs *execute.Service
	log  *slog.Logger
	ctx  context.Context // ended by close
	end  context.CancelFunc
	all  sync.WaitGroup

	taking  sync.Mutex // held while the right is taken or given back
	mu      sync.Mutex
	right   *durable.Executor // nil: not held
	users   int               // of the right
	works   map[string]int    // runs that are executed here
	waiting map[string]bool   // runs that wait for it
	trouble map[string]error  // why what was asked of a run could not be done
}

func newTurn(ctx context.Context, runs *execute.Service, log *slog.Logger) *turn {
	t := &turn{runs: runs, log: log, works: map[string]int{}, waiting: map[string]bool{}, trouble: map[string]error{}}
	t.ctx, t.end = context.WithCancel(context.WithoutCancel(ctx))
	return t
}

// start has a run executed by an order, in the name of the service's user. It returns when that has begun, or when another process has
// the right to execute: then it begins when that one is done.
func (t *turn) start(as *execute.Service, run string, o journal.Command) error {
	t.mu.Lock()
	delete(t.trouble, run)
	if t.waiting[run] {
		t.mu.Unlock()
		return &waitsError{run}
	}
	t.mu.Unlock()
	err := t.begin(as, run, o)
	if !errors.Is(err, durable.ErrBusy) {
		return err
	}
	t.mu.Lock()
	t.waiting[run] = true
	t.mu.Unlock()
	t.all.Go(func() { t.wait(as, run, o) })
	return nil
}

// wait begins when the right is free.
func (t *turn) wait(as *execute.Service, run string, o journal.Command) {
	tick := time.NewTicker(time.Second) // how often the lock is tried
	defer tick.Stop()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.waiting, run)
	}()
	for {
		select {
		case <-tick.C:
		case <-t.ctx.Done():
			return
		}
		done, err := t.tell(as, run, o)
		if !done && err == nil {
			err = t.begin(as, run, o)
		}
		if errors.Is(err, durable.ErrBusy) {
			continue
		}
		if err != nil {
			t.fail(run, err)
		}
		return
	}
}

// tell says to a process that has begun to execute the run meanwhile that it is to be cancelled.
func (t *turn) tell(as *execute.Service, run string, o journal.Command) (done bool, err error) {
	if o.Do != journal.DoCancel {
		return false, nil
	}
	executed, err := t.runs.Store.Executes(t.ctx, run)
	if err != nil || !executed {
		return false, err
	}
	return true, as.Tell(t.ctx, run, journal.Message{Say: "cancel", Undo: o.Undo, Leave: o.Leave, Reason: o.Reason})
}

// begin takes the right and starts a session.
func (t *turn) begin(as *execute.Service, run string, o journal.Command) error {
	var instead []string
	if o.Do == journal.DoRerun || o.Do == journal.DoCancel { // of a run whose process died nothing else is done
		instead = []string{run}
	}
	e, err := t.take(instead...)
	if err != nil {
		return err
	}
	if !slices.Contains(e.Continued(), run) || o.Do != journal.DoResume && o.Do != journal.DoRun {
		t.settle(e, run)
		if err := as.Start(t.ctx, e, run, o); err != nil {
			return errors.Join(err, t.give())
		}
	}
	t.mu.Lock()
	t.works[run]++
	t.mu.Unlock()
	t.all.Go(func() { t.follow(e, run) })
	return nil
}

// settle waits a moment for a session that has said its last word and is being closed.
func (t *turn) settle(e *durable.Executor, run string) {
	limited, cancel := context.WithTimeout(t.ctx, 5*time.Second)
	defer cancel()
	_ = e.Wait(limited, run) // that session's error was told when it ended
}

// follow waits until a session has ended.
func (t *turn) follow(e *durable.Executor, run string) {
	if err := e.Wait(context.WithoutCancel(t.ctx), run); err != nil {
		t.fail(run, err)
	}
	t.mu.Lock()
	if t.works[run]--; t.works[run] == 0 {
		delete(t.works, run)
	}
	t.mu.Unlock()
	if err := t.give(); err != nil {
		t.log.Error("release the right to execute", "error", err)
	}
}

func (t *turn) fail(run string, err error) {
	t.log.Error("run", "run", run, "error", err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble[run] = err
}

// take takes the right to execute, or joins those here who have it.
func (t *turn) take(instead ...string) (*durable.Executor, error) {
	t.taking.Lock()
	defer t.taking.Unlock()
	t.mu.Lock()
	e := t.right
	t.mu.Unlock()
	if e == nil {
		var err error
		if e, err = t.runs.Execute(t.ctx, instead...); err != nil {
			return nil, err
		}
		t.mu.Lock()
		t.right = e
		t.mu.Unlock()
		for _, run := range e.Continued() {
			t.log.Info("resuming a run whose process had died", "run", run)
			t.use(run)
			t.all.Go(func() { t.follow(e, run) })
		}
	}
	t.use("")
	return e, nil
}

// use counts one more who needs the right, for a run or for a moment.
func (t *turn) use(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	if run != "" {
		t.works[run]++
	}
}

// give gives the right back when nobody here uses it any more.
func (t *turn) give() error {
	t.taking.Lock()
	defer t.taking.Unlock()
	t.mu.Lock()
	t.users--
	e := t.right
	last := t.users == 0
	if last {
		t.right = nil
	}
	t.mu.Unlock()
	if !last {
		return nil
	}
	return e.Close(context.WithoutCancel(t.ctx))
}

// takeUp goes on with runs whose process died.
func (t *turn) takeUp() {
	_, err := t.take()
	if err == nil {
		err = t.give()
	}
	if err != nil && !errors.Is(err, durable.ErrBusy) {
		t.log.Error("resume runs whose process died", "error", err)
	}
}

// state says whether a run waits for its turn here, and why what was asked of it could not be done.
func (t *turn) state(run string) (waits bool, trouble error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting[run], t.trouble[run]
}

// close stops what is executed here and returns the runs that were: what acts now may end, nothing else begins.
func (t *turn) close() []string {
	t.end()
	t.taking.Lock()
	t.mu.Lock()
	e, runs := t.right, document.SortedKeys(t.works)
	t.mu.Unlock()
	if e != nil {
		e.Drain()
	}
	t.taking.Unlock()
	t.all.Wait()
	return runs
}
