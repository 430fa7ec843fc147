package engine

import (
	"context"
	"sync/atomic"
)

// Interrupter cuts a session off when a context ends during a call under it. It watches a context once, not once for every call,
// so that a load's thousands of calls a second under one context cost nothing. It belongs to one goroutine.
type Interrupter struct {
	Cut     func()                  // breaks the connection; called by another goroutine
	watched *watched                // the context of the last call
	current atomic.Pointer[watched] // the context of the call under way, if it can end
}

type watched struct {
	done <-chan struct{}
	stop func() bool
}

// Entered is how a call began.
type Entered int

const (
	Entering Entered = iota // go on, and Leave
	TooLate                 // the context had ended: nothing was cut, there is nothing to leave
	CutOff                  // the context ended just now, and the connection is cut
)

// Enter begins a call.
func (w *Interrupter) Enter(ctx context.Context) Entered {
	done := ctx.Done()
	if done == nil {
		return Entering
	}
	if w.watched == nil || w.watched.done != done {
		w.watch(ctx)
	}
	w.current.Store(w.watched)
	select {
	case <-done:
		if w.current.CompareAndSwap(w.watched, nil) {
			return TooLate
		}
		return CutOff
	default:
		return Entering
	}
}

func (w *Interrupter) watch(ctx context.Context) {
	w.Stop()
	next := &watched{done: ctx.Done()}
	next.stop = context.AfterFunc(ctx, func() {
		if w.current.CompareAndSwap(next, nil) {
			w.Cut()
		}
	})
	w.watched = next
}

// Leave ends a call.
func (w *Interrupter) Leave(ctx context.Context) {
	if ctx.Done() != nil {
		w.current.CompareAndSwap(w.watched, nil)
	}
}

// Stop ends the watch.
func (w *Interrupter) Stop() {
	if w.watched != nil {
		w.watched.stop()
	}
}
