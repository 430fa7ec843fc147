package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/uml"
	"plimsoll/internal/document"
)

// Cluster is a lab cluster in the hands of this Plimsoll, which has it alone until Close or Down. It is safe for
// concurrent use; operations that change it wait for one another.
type Cluster struct {
	deps     Deps
	launcher engine.Launcher
	folder   string
	record   *record
	password engine.Secret
	locks    []func() error
	looked   bool          // it is not in hand
	turn     chan struct{} // holds a token while no operation is under way
	deaths   chan Death
	watchers sync.WaitGroup

	mu      sync.Mutex // guards members, what they say of their processes, and the record's nodes
	members []*member
	primary string // as the servers said when they were asked last
}

// member is a node with its process.
type member struct {
	engine.Node
	process infra.Process // nil: it does not run
	layer   infra.Process // that was laid over its data; nil: none
	machine *uml.Machine  // its own; nil: it has none, or it was never booted
	frozen  bool
	ending  bool // its end is no surprise
	unwatch context.CancelFunc
}

// Node is what a cluster says of one of its nodes.
type Node struct {
	engine.Node
	State State
	PID   int // of the server's process on the machine; 0 when it does not run
	// CopyOf is the node from which its data came by Snapshot; "" if it has its own.
	CopyOf string
}

// State is whether a node runs.
type State string

const (
	Running State = "running"
	Frozen  State = "frozen" // stopped in its tracks; connections hang
	Stopped State = "stopped"
)

func newCluster(d Deps, l engine.Launcher, r *record, password engine.Secret, locks ...func() error) *Cluster {
	c := &Cluster{
		deps: d, launcher: l, folder: d.folder(r.Name), record: r, password: password, locks: locks,
		turn: make(chan struct{}, 1), deaths: make(chan Death, 64), primary: r.Nodes[0].name(),
	}
	c.turn <- struct{}{}
	for i := range r.Nodes {
		c.members = append(c.members, &member{Node: r.node(i, c.folder, password)})
	}
	return c
}

// made is what is known of a cluster that was made before.
func made(ctx context.Context, name string, deps Deps) (d Deps, r *record, l engine.Launcher, password engine.Secret, err error) {
	if d, err = deps.withDefaults(); err != nil {
		return d, nil, nil, "", err
	}
	if err := checkName(name); err != nil {
		return d, nil, nil, "", err
	}
	if r, err = readRecord(ctx, d.Machine, d.folder(name)); err != nil {
		return d, nil, nil, "", noCluster(name, err)
	}
	if !r.Complete {
		return d, nil, nil, "", hint.With(fmt.Errorf("the creation of cluster %s was never completed", name), "plimsoll lab down "+name)
	}
	if l, err = d.launcher(r.Dist.Product); err != nil {
		return d, nil, nil, "", err
	}
	if password, err = readPassword(ctx, d.Machine, d.folder(name)); err != nil {
		return d, nil, nil, "", fmt.Errorf("cluster %s: %w", name, err)
	}
	return d, r, l, password, nil
}

// Open takes a cluster in hand that was made before, running or not.
func Open(ctx context.Context, name string, deps Deps) (_ *Cluster, err error) {
	d, r, l, password, err := made(ctx, name, deps)
	if err != nil {
		return nil, err
	}
	cluster, err := d.lockCluster(ctx, name)
	if err != nil {
		return nil, err
	}
	patient, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	addresses, err := d.Machine.Lock(patient, placeLock(r.Network))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the addresses of cluster %s: %w", name, err), cluster())
	}
	c := newCluster(d, l, r, password, addresses, cluster)
	if err := c.adopt(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// adopt finds the processes of the nodes, and removes nodes that a killed Plimsoll was about to add or to remove.
func (c *Cluster) adopt(ctx context.Context) error {
	for _, m := range slices.Clone(c.members) {
		if err := c.reach(ctx, m); err != nil {
			return err
		}
		found, err := c.processes(ctx, m)
		if err != nil {
			return err
		}
		if c.record.Nodes[c.record.find(m.Name)].Unmade {
			if err := errors.Join(endAll(ctx, found), c.remove(ctx, m)); err != nil {
				return err
			}
			continue
		}
		for _, p := range found {
			switch {
			case !p.Leads():
			case p.Mark() == layerMark(m.Node):
				m.layer = p
			case c.stateOf(m) == Stopped:
				c.watch(ctx, m, p)
			}
		}
	}
	return nil
}

// Close releases the cluster as it is: servers that run go on.
func (c *Cluster) Close() error {
	if !c.retire() {
		return nil
	}
	return c.unlock()
}

// Down ends the cluster and removes all of it.
func (c *Cluster) Down(ctx context.Context) error {
	if !c.retire() {
		return nil
	}
	return errors.Join(c.deps.destroy(ctx, c.Name()), c.unlock())
}

// retire waits for the operation under way and lets no other begin. It is false when that was done before.
func (c *Cluster) retire() bool {
	if _, open := <-c.turn; !open {
		return false
	}
	close(c.turn)
	c.mu.Lock()
	for _, m := range c.members {
		m.forget()
	}
	c.mu.Unlock()
	c.watchers.Wait()
	c.leave()
	return true
}

func (c *Cluster) unlock() error {
	var all error
	for _, release := range c.locks {
		all = errors.Join(all, release())
	}
	return all
}

// Name is the cluster's name.
func (c *Cluster) Name() string { return c.record.Name }

// PasswordFile is where its administrator's password is, for the owner alone.
func (c *Cluster) PasswordFile() string { return passwordFile(c.deps.folder(c.Name())) }

// Distribution is what its servers are.
func (c *Cluster) Distribution() engine.Distribution { return c.record.Dist }

// Target is how to reach the cluster as its administrator, the primary first, or only some of its nodes, in the order of
// their names here. Which is the primary was asked when nodes were last started, or by Primary.
func (c *Cluster) Target(nodes ...string) (engine.Target, error) {
	members, err := c.pick(nodes)
	if err != nil {
		return engine.Target{}, err
	}
	if len(nodes) == 0 {
		c.mu.Lock()
		members = c.primaryFirst(members)
		c.mu.Unlock()
	}
	return c.launcher.Target(plain(members)), nil
}

// Nodes returns the nodes as they are now.
func (c *Cluster) Nodes() []Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := make([]Node, len(c.members))
	for i, m := range c.members {
		nodes[i] = Node{Node: m.Node, State: m.state()}
		if of := c.record.Nodes[i].Copied; of != nil && of.Done {
			nodes[i].CopyOf = of.Of
		}
		if m.process != nil {
			nodes[i].PID = m.process.ID()
		}
	}
	return nodes
}

// state and the other methods of a member that read or set it are called with the cluster's mutex held.
func (m *member) state() State {
	switch {
	case m.process == nil:
		return Stopped
	case m.frozen:
		return Frozen
	}
	return Running
}

// forget takes the process from a member: from now on its end is nobody's surprise.
func (m *member) forget() infra.Process {
	p := m.process
	if m.unwatch != nil {
		m.unwatch()
	}
	m.process, m.frozen, m.unwatch = nil, false, nil
	return p
}

// pick returns the nodes of these names, or all.
func (c *Cluster) pick(names []string) ([]*member, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(names) == 0 {
		return slices.Clone(c.members), nil
	}
	picked := make([]*member, len(names))
	for i, name := range names {
		at := slices.IndexFunc(c.members, func(m *member) bool { return m.Name == name })
		if at < 0 {
			return nil, c.noNode(name)
		}
		picked[i] = c.members[at]
	}
	return picked, nil
}

func (c *Cluster) noNode(name string) error {
	var known []string
	for _, m := range c.members {
		known = append(known, m.Name)
	}
	advice := "it has " + strings.Join(known, ", ")
	if near := document.Nearest(name, known); near != "" {
		advice = "did you mean " + near + "?"
	}
	return hint.With(fmt.Errorf("cluster %s has no node %q", c.Name(), name), advice)
}

func plain(members []*member) []engine.Node {
	nodes := make([]engine.Node, len(members))
	for i, m := range members {
		nodes[i] = m.Node
	}
	return nodes
}

// operation runs f when no other operation is under way.
func (c *Cluster) operation(ctx context.Context, f func() error) error {
	select {
	case _, open := <-c.turn:
		if !open {
			if c.looked {
				return fmt.Errorf("cluster %s was opened for reading only", c.Name())
			}
			return fmt.Errorf("cluster %s was released", c.Name())
		}
		defer func() { c.turn <- struct{}{} }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func noCluster(name string, err error) error {
	err = fmt.Errorf("cluster %s: %w", name, err)
	if errors.Is(err, ErrNoCluster) {
		return hint.With(err, "plimsoll lab list")
	}
	return err
}
