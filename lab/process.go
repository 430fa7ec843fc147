package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/infra"
)

// process is that of a node's server, as long as it runs.
type process struct {
	signals sync.Mutex // held while it is sent STOP or CONT: others see its state meanwhile

	mu      sync.Mutex    // guards all below
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

// suspend sends STOP or CONT to it. If STOP fails it is sent CONT: the signal may have reached it all the same.
func (p *process) suspend(ctx context.Context, signal string) error {
	p.signals.Lock()
	defer p.signals.Unlock()
	p.mu.Lock()
	running, was := p.running, p.frozen
	p.mu.Unlock()
	if running == nil {
		return errNotRunning
	}
	frozen, err := signal == "STOP", running.Signal(ctx, signal)
	if err != nil {
		if frozen = was; signal == "STOP" && !was {
			thawed := thaw(ctx, running)
			frozen, err = thawed != nil, errors.Join(err, thawed)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == running {
		p.frozen = frozen
	}
	return err
}

// thaw lets a process go on, also when the context has ended.
func thaw(ctx context.Context, p infra.Process) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), thawTime)
	defer cancel()
	if err := p.Signal(ctx, "CONT"); err != nil && !errors.Is(err, infra.ErrGone) {
		return fmt.Errorf("continue the process: %w", err)
	}
	return nil
}

// thawTime is how long a machine may take to deliver CONT.
const thawTime = 10 * time.Second

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
