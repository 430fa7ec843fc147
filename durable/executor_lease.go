package durable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// executorLease is the right of an executor to execute one run of a store that hosts share: a lease that is prolonged while the
// session goes on. A state folder that is not shared needs none, and has nil: its lock tells at once who lives.
type executorLease struct {
	store *Store

	mu    sync.Mutex
	lease Lease
	asked time.Time // by the wall clock: the other one stands still while a machine sleeps
}

const (
	executorLeaseLength = 30 * time.Second
	executorLeaseLook   = time.Second // how soon who slept notices
)

func executorLeaseName(run string) string { return "run " + run }

// ElsewhereError says that an executor elsewhere executes a run: it is not known to be dead.
type ElsewhereError struct {
	Run      string
	Executor string
	Until    time.Time // when it counts as dead, if it does not show before that it lives
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("run %s is executed elsewhere, by %s", e.Run, e.Executor)
}

// Elsewhere tells who executes a run elsewhere, nil if nobody is known to. Executed tells of this state folder.
func (s *Store) Elsewhere(ctx context.Context, run string) (*ElsewhereError, error) {
	if !s.shared() {
		return nil, nil
	}
	lease, err := s.Lease(ctx, executorLeaseName(run))
	if err != nil || lease.Holder == "" || lease.Holder == s.name || lease.Expires.Before(time.Now()) {
		return nil, err
	}
	return &ElsewhereError{Run: run, Executor: lease.Holder, Until: lease.Expires}, nil
}

// takeExecution takes the right to execute a run. *ElsewhereError while an executor elsewhere has it.
func (s *Store) takeExecution(ctx context.Context, run string) (*executorLease, error) {
	if !s.shared() {
		return nil, nil
	}
	t := &executorLease{store: s, asked: time.Now().Round(0)}
	var err error
	t.lease, err = s.acquire(ctx, executorLeaseName(run), s.name, executorLeaseLength, 0)
	var held *HeldError
	if errors.As(err, &held) {
		return nil, &ElsewhereError{Run: run, Executor: held.Holder, Until: held.Expires}
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// confirm asks whether the run is still ours to execute, and prolongs that. ErrTakenOver when it is not.
func (t *executorLease) confirm(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	asked := time.Now()
	limited, cancel := context.WithTimeout(ctx, executorLeaseLength/3)
	defer cancel()
	lease, err := t.store.Renew(limited, t.lease, executorLeaseLength)
	if errors.Is(err, ErrFenced) {
		return ErrTakenOver
	}
	if err != nil {
		return err
	}
	t.lease, t.asked = lease, asked
	return nil
}

// keep confirms in good time until ctx ends, and ends the session when the run was taken over. A store that does not answer is
// no reason to cut an act off: no other act begins before it answers.
func (t *executorLease) keep(ctx context.Context, end context.CancelCauseFunc) {
	if t == nil {
		return
	}
	tick := time.NewTicker(executorLeaseLook)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !t.due() {
			continue
		}
		if err := t.confirm(ctx); errors.Is(err, ErrTakenOver) {
			end(err)
			return
		}
	}
}

// due looks at both clocks: the one on the wall may be set back, the other stands still while a machine sleeps.
func (t *executorLease) due() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	return max(now.Sub(t.asked), now.Round(0).Sub(t.asked.Round(0))) >= executorLeaseLength/3
}

// release gives the run back, as far as it is ours.
func (t *executorLease) release(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, executorLeaseLength)
	defer cancel()
	_ = t.store.Release(ctx, t.lease.Name, t.lease.Holder) // else it runs out
}
