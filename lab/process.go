package lab

import (
	"context"
	"errors"
	"sync"

	"plimsoll/infra"
)

// process is that of a node's server, as long as it runs.
type process struct {
	mu      sync.Mutex
	running infra.Process // nil: it does not run
	frozen  bool
	ending  bool               // its end is no surprise
	unwatch context.CancelFunc // ends the watch over it
}

// state is whether the server runs.
func (p *process) state() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stateNow()
}

// stateNow is state, with the lock held.
func (p *process) stateNow() State {
	switch {
	case p.running == nil:
		return Stopped
	case p.frozen:
		return Frozen
	}
	return Running
}

// seen is the state, and the id; 0 when it does not run.
func (p *process) seen() (State, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return Stopped, 0
	}
	return p.stateNow(), p.running.ID()
}

// take has the server run as this process, over which somebody watches.
func (p *process) take(running infra.Process, unwatch context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.unwatch, p.ending = running, unwatch, false
}

// errNotRunning says that there is no process.
var errNotRunning = errors.New("it is not running")

// suspend sends STOP or CONT to it.
func (p *process) suspend(ctx context.Context, signal string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return errNotRunning
	}
	if err := p.running.Signal(ctx, signal); err != nil {
		return err
	}
	p.frozen = signal == "STOP"
	return nil
}

// expectEnd says that it is going to end by itself, before the server is started again: nobody is told of it.
func (p *process) expectEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = true
}

// forget has the server not run: from now on the end of its process is nobody's surprise. It returns nil if there was none.
func (p *process) forget() infra.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.release()
}

// release is forget, with the lock held.
func (p *process) release() infra.Process {
	was := p.running
	if p.unwatch != nil {
		p.unwatch()
	}
	p.running, p.frozen, p.unwatch = nil, false, nil
	return was
}

// lose forgets a process that ended, if it still was the server's, and tells whether that is a surprise.
func (p *process) lose(ended infra.Process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != ended {
		return false
	}
	p.release()
	return !p.ending
}
