package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Start starts nodes that do not run, one after another, and returns when each serves and is part of the cluster.
// Without names it is for all, as in every operation.
func (c *Cluster) Start(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, c.start)
}

// Launch starts nodes that do not run and does not wait until they serve: for those that join as they start, and take long.
func (c *Cluster) Launch(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		if c.stateOf(m) != Stopped {
			return nil
		}
		p, err := c.launch(ctx, m)
		if err == nil {
			c.watch(ctx, m, p)
		}
		return err
	})
}

// Stop ends nodes that run cleanly; frozen ones are thawed for it. The primary is the last to go: it waits for its
// replicas.
func (c *Cluster) Stop(ctx context.Context, nodes ...string) error {
	return c.operation(ctx, func() error {
		members, err := c.pick(nodes)
		if err != nil {
			return err
		}
		return c.primaryLast(ctx, members, func(m *member) error { return c.stop(ctx, m) })
	})
}

// Restart stops and starts nodes, one after another.
func (c *Cluster) Restart(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, c.restart)
}

// Kill ends nodes with SIGKILL, as a crash would.
func (c *Cluster) Kill(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error { return c.end(ctx, m, "KILL") })
}

// Freeze stops nodes in their tracks: connections stay open and nothing answers, as when a host hangs.
func (c *Cluster) Freeze(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error { return c.suspend(ctx, m, "STOP") })
}

// Thaw lets frozen nodes go on.
func (c *Cluster) Thaw(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error { return c.suspend(ctx, m, "CONT") })
}

// Reconfigure gives nodes these settings in place of those they had. What does not run takes them at its next start; what
// runs is restarted, unless the settings cannot be: then it goes on as it was. What only the server itself refuses leaves
// it stopped.
func (c *Cluster) Reconfigure(ctx context.Context, config map[string]string, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		running := c.stateOf(m) != Stopped
		if running {
			proposed := m.Node
			proposed.Config = nodeRecord{Config: config, Own: c.Assigned(m.Name)}.settings()
			if _, err := c.launcher.Needs(proposed); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
		if err := c.note(ctx, m, func(n *nodeRecord) { n.Config = maps.Clone(config) }); err != nil {
			return err
		}
		if !running {
			return nil
		}
		return c.restart(ctx, m)
	})
}

// each does one thing to nodes, one after another, as one operation.
func (c *Cluster) each(ctx context.Context, nodes []string, do func(context.Context, *member) error) error {
	return c.operation(ctx, func() error {
		members, err := c.pick(nodes)
		if err != nil {
			return err
		}
		for _, m := range members {
			if err := do(ctx, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// start starts a node and waits until it serves and has joined. If it does not serve, it is ended.
func (c *Cluster) start(ctx context.Context, m *member) error {
	if c.stateOf(m) != Stopped {
		return nil
	}
	p, err := c.launch(ctx, m)
	if err != nil {
		return err
	}
	if err := c.serve(ctx, m, p); err != nil {
		ctx := context.WithoutCancel(ctx)
		return errors.Join(err, finish(ctx, p), c.lift(ctx, m))
	}
	c.watch(ctx, m, p)
	if err := c.join(ctx, m); err != nil {
		return err
	}
	c.Primary(ctx)
	return nil
}

// launch starts a node's process.
func (c *Cluster) launch(ctx context.Context, m *member) (infra.Process, error) {
	if err := c.raise(ctx, m); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := c.configure(ctx, m); err != nil {
		return nil, err
	}
	command, err := c.launcher.Command(m.Node)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := c.layOver(ctx, m); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	command.Log, command.Mark = m.Log(), m.Dir
	command.Title = engine.LogTitle + " at " + c.deps.Now().UTC().Format(time.RFC3339)
	c.deps.say("%s: start at %s:%d", m.Name, m.Address, m.Port)
	p, err := c.on(m).Start(ctx, command)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", m.Name, err), c.lift(ctx, m))
	}
	return p, nil
}

// serve waits until a node that was started answers.
func (c *Cluster) serve(ctx context.Context, m *member, p infra.Process) error {
	limited, cancel := context.WithTimeout(ctx, c.deps.Patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		alive, err := p.Alive(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if !alive {
			return c.ended(ctx, m)
		}
		waiting := c.launcher.Ready(limited, c.on(m), m.Node)
		if waiting == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%s does not serve after %v: %w", m.Name, c.deps.Patience, waiting)
		}
	}
}

// ended is the error for a node that ended by itself.
func (c *Cluster) ended(ctx context.Context, m *member) error {
	if cause := c.launcher.Diagnose(ctx, c.on(m), m.Node); cause != nil {
		return fmt.Errorf("%s ended: %w", m.Name, cause)
	}
	tail, err := infra.Tail(ctx, c.on(m), m.Log(), 2<<10)
	if err != nil {
		return fmt.Errorf("%s ended: %w", m.Name, err)
	}
	return fmt.Errorf("%s ended; the last lines of its log are\n%s", m.Name, strings.TrimSpace(string(tail)))
}

// primaryLast ends nodes at once, because each writes its memory to disk, and the cluster's primary after the others.
func (c *Cluster) primaryLast(ctx context.Context, members []*member, end func(*member) error) error {
	if len(members) > 1 {
		c.Primary(ctx)
	}
	results := make(chan error, len(members))
	first := func(m *member) bool { return m.Name == c.primary }
	others := slices.DeleteFunc(slices.Clone(members), first)
	for _, m := range others {
		go func() { results <- end(m) }()
	}
	var all error
	for range others {
		all = errors.Join(all, <-results)
	}
	if at := slices.IndexFunc(members, first); at >= 0 {
		all = errors.Join(all, end(members[at]))
	}
	return all
}

func (c *Cluster) stop(ctx context.Context, m *member) error {
	if c.stateOf(m) != Stopped {
		c.deps.say("%s: stop", m.Name)
	}
	return c.end(ctx, m, "TERM")
}

func (c *Cluster) restart(ctx context.Context, m *member) error {
	if err := c.stop(ctx, m); err != nil {
		return err
	}
	return c.start(ctx, m)
}

// end ends a node by a signal, if it runs, and keeps all that it wrote.
func (c *Cluster) end(ctx context.Context, m *member, signal string) error {
	if err := c.endServer(ctx, m, signal); err != nil {
		return err
	}
	return c.lift(ctx, m)
}

// endServer sends a node its last signal and waits for its end.
func (c *Cluster) endServer(ctx context.Context, m *member, signal string) error {
	c.mu.Lock()
	p := m.forget()
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, c.deps.Patience)
	defer cancel()
	for _, s := range []string{signal, "CONT"} { // frozen, it would not notice the first
		if err := p.Signal(ctx, s); err != nil && !errors.Is(err, infra.ErrGone) {
			c.watch(ctx, m, p)
			return fmt.Errorf("stop %s: %w", m.Name, err)
		}
	}
	if err := p.Wait(limited); err != nil {
		c.watch(ctx, m, p)
		return fmt.Errorf("stop %s: %w", m.Name, err)
	}
	return nil
}

// suspend sends STOP or CONT to a node that runs.
func (c *Cluster) suspend(ctx context.Context, m *member, signal string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.process == nil {
		return fmt.Errorf("%s is not running", m.Name)
	}
	if err := m.process.Signal(ctx, signal); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	m.frozen = signal == "STOP"
	return nil
}

// configure brings a node up to its record and has its configuration written.
func (c *Cluster) configure(ctx context.Context, m *member) error {
	c.mu.Lock()
	m.Node = c.record.node(slices.Index(c.members, m), c.folder, c.password)
	c.mu.Unlock()
	if err := c.launcher.Configure(ctx, c.on(m), m.Node); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

func (c *Cluster) stateOf(m *member) State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.state()
}

// finish kills a process and waits for its end.
func finish(ctx context.Context, p infra.Process) error {
	if err := p.Signal(ctx, "KILL"); err != nil {
		if errors.Is(err, infra.ErrGone) {
			return nil
		}
		return err
	}
	return p.Wait(ctx)
}
