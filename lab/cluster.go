package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/infra/uml"
)

// Cluster is a lab cluster that this process holds alone until Close or Down. It is safe for concurrent use; operations that change it wait
// for one another.
//
// What is done to one of its servers is asked of Server, to a machine with a kernel of its own of Host, and who comes and goes of
// Growth.
type Cluster struct {
	*foundation
	roster *roster
	deaths *deaths
	locks  []func() error
	looked bool          // it was opened by Look: this process does not hold it
	opened bool          // it was made before, and goes on when this process ends: a person may start its servers
	turn   chan struct{} // holds a token while no operation is under way
}

// Node is what a cluster says of one of its nodes.
type Node struct {
	engine.Node
	State State
	PID   int // of the server's process on the machine; 0 when it does not run
	// CopyOf is the node from which its data came by Server.CopyFrom; "" if it has its own.
	CopyOf string
}

// State is whether a node runs.
type State string

const (
	Running State = "running"
	Frozen  State = "frozen" // stopped in its tracks; connections hang
	Stopped State = "stopped"
)

func newCluster(d Deps, l engine.Launcher, r *record, locks ...func() error) *Cluster {
	c := &Cluster{
		foundation: &foundation{deps: d, launcher: l, record: r},
		roster:     &roster{cluster: r.Name, primary: r.Nodes[0].name()},
		deaths:     &deaths{told: make(chan Death, 64)},
		locks:      locks, turn: make(chan struct{}, 1),
	}
	c.turn <- struct{}{}
	for i := range r.Nodes {
		c.roster.add(newMember(c.foundation, c.deaths, r.nodeAt(i)))
	}
	return c
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
	all := c.roster.all()
	for _, m := range all {
		m.process.forget()
	}
	c.deaths.watchers.Wait()
	for _, m := range all {
		m.host.leave()
	}
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

// Made is when a cluster was created.
func Made(c *Cluster) time.Time { return c.record.Made }

// PasswordFile is where its administrator's password is, for the owner alone.
func (c *Cluster) PasswordFile() string { return passwordFile(c.record.folder) }

// Distribution is what its servers are.
func (c *Cluster) Distribution() engine.Distribution { return c.record.Dist }

// Volumes are those of the cluster's machines, which are called by the names of their nodes.
func (c *Cluster) Volumes() *uml.Volumes { return c.deps.volumes(c.Name()) }

// Died tells of every server that ends by itself while this Plimsoll has the cluster.
func (c *Cluster) Died() <-chan Death { return c.deaths.told }

// Server is the server of a node. Whether there is such a node is found when something is asked of it.
func (c *Cluster) Server(node string) Server { return Server{c, node} }

// Growth adds nodes to the cluster and removes them.
func (c *Cluster) Growth() Growth { return Growth{c} }

// Primary asks the nodes that run which of them is the primary; "" when none says so. Of nodes that are all alike it is
// the first. Target puts it first from then on.
func (c *Cluster) Primary(ctx context.Context) string { return c.membership().primary(ctx) }

// Target is how to reach the cluster as its administrator, the primary first, or only some of its nodes, in the order of
// their names here. Which is the primary was asked when nodes were last started, or by Primary.
func (c *Cluster) Target(nodes ...string) (engine.Target, error) {
	members, err := c.roster.pick(nodes)
	if err != nil {
		return engine.Target{}, err
	}
	if len(nodes) == 0 {
		members = c.roster.primaryFirst(members)
	}
	target := c.launcher.Target(plain(members))
	if c.opened {
		target.IfDown = ifDown(c, members)
	}
	return target, nil
}

// ifDown is what to do where a server does not answer.
func ifDown(c *Cluster, members []*member) string {
	switch all := len(c.roster.all()); {
	case all == 1:
		return "plimsoll lab start " + c.Name() + " starts its server, with the data that is there"
	case len(members) == 1:
		return "plimsoll lab start " + c.Name() + " --node " + members[0].Name + " starts its server, with the data that is there"
	}
	return "plimsoll lab start " + c.Name() + " starts its servers that do not run, with the data that is there"
}

// Nodes returns the nodes as they are now.
func (c *Cluster) Nodes() []Node {
	members := c.roster.all()
	nodes := make([]Node, len(members))
	for i, m := range members {
		nodes[i] = m.now()
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
