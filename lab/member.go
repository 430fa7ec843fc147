package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// member is a node with its server's process. What it does is part of an operation of the cluster, which has nothing else done
// to the node meanwhile; only its end can come at any time.
type member struct {
	engine.Node
	*foundation
	deaths  *deaths
	host    *host
	layer   *layer
	process process

	mu sync.Mutex // guards Node for those who are no part of the operation
}

func newMember(f *foundation, d *deaths, n engine.Node) *member {
	h := &host{foundation: f, name: n.Name}
	return &member{Node: n, foundation: f, deaths: d, host: h, layer: &layer{foundation: f}}
}

// node is what its launcher knows of it.
func (m *member) node() engine.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Node
}

// state is whether the server runs.
func (m *member) state() State { return m.process.state() }

// now is what the cluster says of the node.
func (m *member) now() Node {
	n := Node{Node: m.node()}
	n.State, n.PID = m.process.seen()
	if of := m.record.copyOf(m.Name); of != nil && of.Done {
		n.CopyOf = of.Of
	}
	return n
}

// folders makes those that a server expects.
func (m *member) folders(ctx context.Context) error {
	for _, folder := range []string{m.Dir, m.Run(), m.Temp()} {
		if err := m.host.machine().MakeDir(ctx, folder); err != nil {
			return fmt.Errorf("%s: make its folder: %w", m.Name, err)
		}
	}
	return nil
}

// make makes a node's folder with all that it needs to be started: a copy of the data of a node that does not run,
// where a copy can be a node of its own; otherwise, and for the first, an empty data set.
func (m *member) make(ctx context.Context, from *member) error {
	if err := m.host.equip(ctx, m.Node); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := m.folders(ctx); err != nil {
		return err
	}
	if m.record.Disk != nil {
		if _, err := m.layer.putDisk(ctx, m.Node, m.record.Disk); err != nil {
			return fmt.Errorf("%s: make its disk: %w", m.Name, err)
		}
	}
	if err := m.configure(ctx); err != nil {
		return err
	}
	var err error
	if cloner, ok := m.launcher.(engine.Cloner); ok && m != from && !m.host.own() && !from.host.own() {
		m.deps.say("%s: copy %s", m.Name, from.Name)
		err = cloner.Clone(ctx, m.deps.Machine, from.Node, m.Node)
	} else {
		m.deps.say("%s: make its data folder", m.Name)
		err = m.makeData(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// configure brings a node up to its record and has its configuration written.
func (m *member) configure(ctx context.Context) error {
	node := m.record.node(m.Name)
	m.mu.Lock() // who a node is, its name, number, address and folder, never changes, and is read without it
	m.Size, m.Seeds, m.Dist, m.Config, m.Memory, m.Alone, m.Confined = node.Size, node.Seeds, node.Dist, node.Config, node.Memory, node.Alone, node.Confined
	m.mu.Unlock()
	if err := m.launcher.Configure(ctx, m.host.machine(), m.Node); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// accepts refuses settings of the cluster with which the server cannot run.
func (m *member) accepts(ctx context.Context, config map[string]string) error {
	proposed := m.Node
	proposed.Config = nodeRecord{Config: config, Own: m.record.own(m.Name)}.settings()
	if _, err := m.launcher.Needs(proposed); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := m.deps.checkChanged(ctx, m.launcher, m.Node, proposed); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// note changes what is written down of the node.
func (m *member) note(ctx context.Context, change func(*nodeRecord)) error {
	return m.record.note(ctx, m.Name, change)
}

// made notes that the node has all that it needs.
func (m *member) made(ctx context.Context) error {
	return m.note(ctx, func(n *nodeRecord) { n.Unmade = false })
}

// assign gives the node settings of its own.
func (m *member) assign(ctx context.Context, own map[string]string) error {
	return m.note(ctx, func(n *nodeRecord) { n.Own = maps.Clone(own) })
}

// serve starts the server and waits until it serves. If it does not, it is ended.
func (m *member) serve(ctx context.Context) error {
	p, err := m.launch(ctx)
	if err != nil {
		return err
	}
	if err := m.await(ctx, p); err != nil {
		ctx := context.WithoutCancel(ctx)
		return errors.Join(err, finish(ctx, p), m.layer.lift(ctx, m.Node))
	}
	m.watch(ctx, p)
	return nil
}

// launch starts the server's process.
func (m *member) launch(ctx context.Context) (infra.Process, error) {
	if err := m.host.raise(ctx, m.Node); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := m.configure(ctx); err != nil {
		return nil, err
	}
	command, err := m.launcher.Command(m.Node)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if err := m.layer.layOver(ctx, m.Node); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	command.Log, command.Mark = m.Log(), m.Dir
	command.Title = engine.LogTitle + " at " + m.deps.Now().UTC().Format(time.RFC3339)
	m.deps.say("%s: start at %s:%d", m.Name, m.Address, m.Port)
	p, err := m.host.machine().Start(ctx, command)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", m.Name, err), m.layer.lift(ctx, m.Node))
	}
	return p, nil
}

// await waits until a server that was started answers.
func (m *member) await(ctx context.Context, p infra.Process) error {
	limited, cancel := context.WithTimeout(ctx, m.deps.Patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		alive, err := p.Alive(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if !alive {
			return m.ended(ctx)
		}
		waiting := m.launcher.Ready(limited, m.host.machine(), m.Node)
		if waiting == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%s does not serve after %v: %w", m.Name, m.deps.Patience, waiting)
		}
	}
}

// ended is the error for a server that ended by itself.
func (m *member) ended(ctx context.Context) error {
	if cause := m.launcher.Diagnose(ctx, m.host.machine(), m.Node); cause != nil {
		return fmt.Errorf("%s ended: %w", m.Name, cause)
	}
	return fmt.Errorf("%s ended; the last lines of its log are\n%s", m.Name, m.lastWords(ctx))
}

// stop ends the server cleanly, if it runs.
func (m *member) stop(ctx context.Context) error {
	if m.state() != Stopped {
		m.deps.say("%s: stop", m.Name)
	}
	return m.end(ctx, "TERM")
}

// end ends the server by a signal, if it runs, and keeps all that it wrote.
func (m *member) end(ctx context.Context, signal string) error {
	if err := m.endServer(ctx, signal); err != nil {
		return err
	}
	return m.layer.lift(ctx, m.Node)
}

// endServer sends the server its last signal and waits for its end.
func (m *member) endServer(ctx context.Context, signal string) error {
	p := m.process.forget()
	if p == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, m.deps.Patience)
	defer cancel()
	for _, s := range []string{signal, "CONT"} { // frozen, it would not notice the first
		if err := p.Signal(ctx, s); err != nil && !errors.Is(err, infra.ErrGone) {
			m.watch(ctx, p)
			return fmt.Errorf("stop %s: %w", m.Name, err)
		}
	}
	go infra.WakeUntil(limited, net.JoinHostPort(m.Address, strconv.Itoa(m.Port)))
	err := p.Wait(limited)
	if err == nil {
		return nil
	}
	m.watch(ctx, p)
	if ctx.Err() == nil && limited.Err() != nil { // what it is busy with is in its log, and nowhere else
		err = fmt.Errorf("it has not ended within %v; the last lines of its log are\n%s", m.deps.Patience, m.lastWords(ctx))
	}
	return fmt.Errorf("stop %s: %w", m.Name, err)
}

// lastWords are the last lines of the server's log, or why they cannot be read.
func (m *member) lastWords(ctx context.Context) string {
	tail, err := infra.Tail(ctx, m.host.machine(), m.Log(), 2<<10)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(tail))
}

// suspend sends STOP or CONT to a server that runs.
func (m *member) suspend(ctx context.Context, signal string) error {
	err := m.process.suspend(ctx, signal)
	switch {
	case errors.Is(err, errNotRunning):
		return fmt.Errorf("%s is not running", m.Name)
	case err != nil:
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
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
