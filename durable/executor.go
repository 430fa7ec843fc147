package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Work executes one session of a run: it reads the journal and appends to it until it has nothing more to do. What it
// returns is the error of the session, not of the run.
type Work func(ctx context.Context, j *Journal) error

// Executor executes runs. There is one per state folder.
type Executor struct {
	store   *Store
	work    Work
	runtime dbos.Context
	release func()
	drain   chan struct{}
	once    sync.Once

	mu       sync.Mutex
	sessions map[string]*session // by run, the latest of each
	resumed  []string
}

// session is one that this process executes or has executed.
type session struct {
	done   chan struct{} // its end is on disk, and its work has ended
	worked chan struct{} // nil until its work begins
	err    error
	lease  *executorLease // to be given back: its work has ended
}

// sessionStart is what a session begins with; it is kept by the library.
type sessionStart struct {
	Run     string
	Session int `json:"Stint"` // its name in stores that exist
	Data    string
}

// Execute takes the right to execute runs on this state folder, ErrBusy if another process has it, and continues those
// whose process died, except those that are to get another order instead: their session is closed where it was cut off. Work
// is called for each that is continued and for each Start, on a goroutine of its own.
func (s *Store) Execute(ctx context.Context, work Work, instead ...string) (*Executor, error) {
	// A moment's patience: a program that a killed executor was just starting holds its lock until it is loaded.
	patient, cancel := context.WithTimeoutCause(ctx, 500*time.Millisecond, ErrBusy)
	defer cancel()
	release, err := flock(patient, filepath.Join(s.options.Folder, lockName))
	if err != nil {
		return nil, err
	}
	e := &Executor{store: s, work: work, release: release, drain: make(chan struct{}), sessions: map[string]*session{}}
	if err := e.launch(context.WithoutCancel(ctx), instead); err != nil {
		release()
		return nil, err
	}
	return e, nil
}

func (e *Executor) launch(ctx context.Context, instead []string) error {
	interrupted, err := dbos.ListWorkflows(e.store.reading(ctx), dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued),
		dbos.WithFilterExecutorIDs(e.store.name), dbos.WithFilterAppVersion(versionOf(e.store)), dbos.WithFilterLoadInput(true))
	if err != nil {
		return fmt.Errorf("look for interrupted runs: %w", err)
	}
	interrupted, err = e.without(ctx, interrupted, instead)
	if err != nil {
		return err
	}
	for _, w := range interrupted {
		run := runOf(w.ID)
		e.resumed = append(e.resumed, run)
		e.sessions[run] = &session{done: make(chan struct{})}
	}
	if e.runtime, err = openRuntime(ctx, e.store); err != nil {
		return err
	}
	// The library gives a workflow up after a number of crashes; a run belongs to a person.
	dbos.RegisterWorkflow(e.runtime, e.execute, dbos.WithWorkflowName("stint"), dbos.WithMaxRecoveryAttempts(math.MaxInt32))
	if err := dbos.Launch(e.runtime); err != nil {
		return fmt.Errorf("start executing: %w", err)
	}
	for _, w := range interrupted {
		handle, err := dbos.RetrieveWorkflow[string](e.runtime, w.ID)
		if err != nil {
			return errors.Join(fmt.Errorf("resume %s: %w", runOf(w.ID), err), dbos.Shutdown(e.runtime, 5*time.Second))
		}
		go e.follow(e.sessions[runOf(w.ID)], handle)
	}
	return nil
}

// without closes the sessions of some runs, and returns the others.
func (e *Executor) without(ctx context.Context, interrupted []dbos.WorkflowStatus, runs []string) (others []dbos.WorkflowStatus, err error) {
	for _, w := range interrupted {
		if !slices.Contains(runs, runOf(w.ID)) {
			others = append(others, w)
		} else if err := dbos.CancelWorkflow(e.store.reading(ctx), w.ID); err != nil {
			return nil, fmt.Errorf("close the interrupted session: %w", err)
		}
	}
	return others, nil
}

// Continued lists the runs that were taken up again because their process had died.
func (e *Executor) Continued() []string { return e.resumed }

// Start begins a run's next session. *ElsewhereError while an executor elsewhere executes it: it is not known to be dead.
func (e *Executor) Start(ctx context.Context, run string, data json.RawMessage) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.sessions[run]; s != nil && !s.over() {
		return fmt.Errorf("run %s is being executed", run)
	}
	t, err := e.store.takeExecution(ctx, run) // the session takes it once more, for itself
	if err != nil {
		return err
	}
	if err := e.begin(ctx, run, data); err != nil {
		t.release(context.WithoutCancel(ctx))
		return err
	}
	return nil
}

func (e *Executor) begin(ctx context.Context, run string, data json.RawMessage) error {
	var n int
	err := e.store.db.row(ctx, `UPDATE {runs} SET stints = stints + 1, executor = ? WHERE run = ? RETURNING stints`, e.store.name, run).Scan(&n)
	if err != nil {
		return fmt.Errorf("begin a session of %s: %w", run, e.store.options.plainly(err))
	}
	if n > 1 {
		if err := e.takeOver(ctx, sessionID(run, n-1)); err != nil {
			return err
		}
	}
	s := &session{done: make(chan struct{})}
	e.sessions[run] = s
	handle, err := dbos.RunWorkflow(e.runtime, e.execute, sessionStart{Run: run, Session: n, Data: string(data)}, dbos.WithWorkflowID(sessionID(run, n)))
	if err != nil {
		s.err = err
		close(s.done)
		return fmt.Errorf("begin a session of %s: %w", run, e.store.options.plainly(err))
	}
	go e.follow(s, handle)
	return nil
}

// takeOver closes the session before, if it was left open by an executor that died: should it wake, what it writes is refused.
func (e *Executor) takeOver(ctx context.Context, before string) error {
	open, err := dbos.ListWorkflows(e.store.reading(ctx), dbos.WithFilterWorkflowIDs(before),
		dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued))
	if err != nil {
		return fmt.Errorf("read the previous session: %w", err)
	}
	if len(open) == 0 {
		return nil
	}
	if err := dbos.CancelWorkflow(e.store.reading(ctx), before); err != nil {
		return fmt.Errorf("close the previous session: %w", err)
	}
	return nil
}

// Executes tells whether the process that executes runs on this state folder now has this one: its session is open. One that a process
// left open that died is taken up by whoever executes next.
func (s *Store) Executes(ctx context.Context, run string) (bool, error) {
	if some, err := s.Executed(); err != nil || !some {
		return false, err
	}
	r, err := s.Run(ctx, run)
	if err != nil || r.Sessions == 0 {
		return false, err
	}
	open, err := dbos.ListWorkflows(s.reading(ctx), dbos.WithFilterWorkflowIDs(sessionID(run, r.Sessions)),
		dbos.WithFilterStatus(dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued),
		dbos.WithFilterExecutorIDs(s.name), dbos.WithFilterAppVersion(versionOf(s)))
	if err != nil {
		return false, fmt.Errorf("look whether run %s is executed: %w", run, err)
	}
	return len(open) > 0, nil
}

func (e *Executor) execute(runtime dbos.Context, o sessionStart) (string, error) {
	e.mu.Lock()
	s := e.sessions[o.Run]
	if s == nil {
		s = &session{}
	}
	worked := make(chan struct{})
	s.worked = worked
	e.mu.Unlock()
	defer close(worked)
	t, err := e.store.takeExecution(runtime, o.Run)
	if err == nil {
		err = e.serve(runtime, o, t)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.err, s.lease = err, t
	return "", err
}

// serve works on a run while it is ours.
func (e *Executor) serve(runtime dbos.Context, o sessionStart, t *executorLease) error {
	ctx, end := context.WithCancelCause(runtime)
	var beside sync.WaitGroup
	beside.Go(func() { t.keep(ctx, end) })
	defer beside.Wait()
	defer end(nil)
	j, err := e.openJournal(runtime, o)
	if err != nil {
		return err
	}
	j.lease = t
	return e.work(ctx, j)
}

func (s *session) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// follow waits until the end of a session is on disk: before that, another executor would take it for interrupted.
func (e *Executor) follow(s *session, handle dbos.WorkflowHandle[string]) {
	defer close(s.done)
	_, err := handle.GetResult(dbos.WithHandlePollingInterval(50 * time.Millisecond))
	e.mu.Lock()
	worked := s.worked
	if worked == nil && e.runtime.Err() == nil { // else its error is kept as it is
		s.err = fmt.Errorf("the session was ended before it began: %w", cmp.Or(err, ErrTakenOver))
	}
	e.mu.Unlock()
	if worked != nil { // who takes a run over ends its session on disk before the work that goes on here
		select {
		case <-worked:
		case <-e.runtime.Done():
		}
	}
	e.mu.Lock()
	t := s.lease // none of a session that was left as if the process had died
	e.mu.Unlock()
	t.release(context.WithoutCancel(e.runtime))
}

// Wait returns when the run's session has ended, with its error.
func (e *Executor) Wait(ctx context.Context, run string) error {
	e.mu.Lock()
	s := e.sessions[run]
	e.mu.Unlock()
	if s == nil {
		return nil
	}
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Drain asks every session to stop at its next boundary. It returns at once.
func (e *Executor) Drain() { e.once.Do(func() { close(e.drain) }) }

// Close drains, waits for the sessions as long as ctx allows, then leaves those that still run as if the process had died.
func (e *Executor) Close(ctx context.Context) error {
	e.Drain()
	e.mu.Lock()
	all := make([]*session, 0, len(e.sessions))
	for _, s := range e.sessions {
		all = append(all, s)
	}
	e.mu.Unlock()
	for _, s := range all {
		select {
		case <-s.done:
		case <-ctx.Done():
		}
	}
	err := dbos.Shutdown(e.runtime, 5*time.Second)
	e.release()
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("stop executing: %w", err)
	}
	return nil
}

func sessionID(run string, n int) string { return run + "/" + strconv.Itoa(n) }

func runOf(sessionID string) string { return filepath.Dir(sessionID) }
