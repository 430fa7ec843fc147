package lab

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
)

// AsCluster is a lab cluster as runs reach it, which its caller keeps in hand for as long as the site is used.
func AsCluster(c *Cluster, e engine.Engine, m infra.Machine) *cluster.Cluster {
	s := &cluster.Cluster{Name: c.Name(), Environment: cluster.Lab, Engine: e, Local: m, Made: c.record.Made, Grower: nodeGrower{c}}
	if c.record.Machines != nil {
		s.Volumes = c.Volumes()
	}
	s.List = func(context.Context) ([]cluster.Node, error) {
		var nodes []cluster.Node
		for _, n := range c.Nodes() {
			target, err := c.Target(n.Name)
			if err != nil {
				return nil, err
			}
			var host cluster.Host
			if c.record.hasMachine(n.Name) {
				host = nodeHost{c, n.Name}
			}
			nodes = append(nodes, cluster.Node{
				Host: host,
				Name: n.Name, Target: target, Machine: c.MachineOf(n.Name), Server: nodeServer{c, n.Name}, Data: n.Data(),
				Tool: func(args ...string) (infra.Command, error) { return c.Tool(n.Name, args...) },
			})
		}
		return nodes, nil
	}
	s.AskRoles()
	return s
}

// nodeServer works one node of a lab cluster.
type nodeServer struct {
	cluster *Cluster
	node    string
}

var (
	_ cluster.Server     = nodeServer{}
	_ cluster.Breaker    = nodeServer{}
	_ cluster.Identified = nodeServer{}
	_ cluster.Assignable = nodeServer{}
	_ cluster.Joining    = nodeServer{}
	_ cluster.Mortal     = nodeServer{}
	_ cluster.Copyable   = nodeServer{}
	_ cluster.Logged     = nodeServer{}
)

func (s nodeServer) find() (Node, error) {
	for _, n := range s.cluster.Nodes() {
		if n.Name == s.node {
			return n, nil
		}
	}
	return Node{}, fmt.Errorf("cluster %s, node %q: %w", s.cluster.Name(), s.node, cluster.ErrNoNode)
}

func (s nodeServer) Running(context.Context) (bool, error) {
	n, err := s.find()
	return n.State != Stopped, err
}

func (s nodeServer) Frozen(context.Context) (bool, error) {
	n, err := s.find()
	return n.State == Frozen, err
}

// Process is the server's process id.
func (s nodeServer) Process(context.Context) (string, error) {
	n, err := s.find()
	return strconv.Itoa(n.PID), err
}

// Assigned are the settings of this node alone.
func (s nodeServer) Assigned(context.Context) (map[string]string, error) {
	return s.cluster.Assigned(s.node), nil
}

// Assign gives the node settings of its own for its next start.
func (s nodeServer) Assign(ctx context.Context, settings map[string]string) error {
	return s.cluster.Assign(ctx, settings, s.node)
}

// ExpectEnd says that the node is going to end by itself.
func (s nodeServer) ExpectEnd(context.Context) error { return s.cluster.ExpectEnd(s.node) }

// Launch starts the node and does not wait until it serves.
func (s nodeServer) Launch(ctx context.Context) error { return s.cluster.Launch(ctx, s.node) }

func (s nodeServer) Start(ctx context.Context) error  { return s.cluster.Start(ctx, s.node) }
func (s nodeServer) Stop(ctx context.Context) error   { return s.cluster.Stop(ctx, s.node) }
func (s nodeServer) Kill(ctx context.Context) error   { return s.cluster.Kill(ctx, s.node) }
func (s nodeServer) Freeze(ctx context.Context) error { return s.cluster.Freeze(ctx, s.node) }
func (s nodeServer) Thaw(ctx context.Context) error   { return s.cluster.Thaw(ctx, s.node) }

func (s nodeServer) CopyOf(context.Context) (string, error) {
	n, err := s.find()
	return n.CopyOf, err
}

func (s nodeServer) CopyFrom(ctx context.Context, node string) (time.Duration, error) {
	return s.cluster.Snapshot(ctx, node, s.node)
}

func (s nodeServer) CopyBack(ctx context.Context) error { return s.cluster.Revert(ctx, s.node) }

func (s nodeServer) LogFile(context.Context) (string, error) {
	n, err := s.find()
	return n.Log(), err
}

// nodeGrower grows a lab cluster.
type nodeGrower struct{ cluster *Cluster }

var _ cluster.Grower = nodeGrower{}

func (g nodeGrower) Grow(ctx context.Context, token string, settings map[string]string) (string, error) {
	return g.cluster.Grow(ctx, token, settings)
}

func (g nodeGrower) Grown(token string) string { return g.cluster.Grown(token) }

func (g nodeGrower) Reset(ctx context.Context, node string) error { return g.cluster.Reset(ctx, node) }

func (g nodeGrower) Shrink(ctx context.Context, node string) error {
	for _, n := range g.cluster.Nodes() {
		if n.Name == node {
			return g.cluster.Remove(ctx, node)
		}
	}
	return nil
}

// nodeHost works the machine of a node.
type nodeHost struct {
	cluster *Cluster
	node    string
}

var _ cluster.FaultProneHost = nodeHost{}

func (i nodeHost) ID(context.Context) (string, error) { return i.node, nil }

func (i nodeHost) Running(ctx context.Context) (bool, error) {
	m, err := i.cluster.OwnMachine(i.node)
	if err != nil {
		return false, err
	}
	return m.Running(ctx)
}

func (i nodeHost) NetworkCut(ctx context.Context) (bool, error) {
	m, err := i.cluster.OwnMachine(i.node)
	if err != nil {
		return false, err
	}
	return m.NetworkCut(ctx)
}

func (i nodeHost) Skew(ctx context.Context) (time.Duration, error) {
	m, err := i.cluster.OwnMachine(i.node)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	there, err := m.Clock(ctx)
	return there.Sub(began.Add(time.Since(began) / 2)), err
}

func (i nodeHost) Kill(ctx context.Context) error { return i.cluster.KillMachine(ctx, i.node) }
func (i nodeHost) Boot(ctx context.Context) error { return i.cluster.Boot(ctx, i.node) }

func (i nodeHost) CutNetwork(ctx context.Context) error {
	m, err := i.cluster.OwnMachine(i.node)
	if err != nil {
		return err
	}
	return m.CutNetwork(ctx)
}

func (i nodeHost) MendNetwork(ctx context.Context) error {
	m, err := i.cluster.OwnMachine(i.node)
	if err != nil {
		return err
	}
	return m.MendNetwork(ctx)
}

func (i nodeHost) SkewClock(ctx context.Context, by time.Duration) error {
	m, err := i.cluster.OwnMachine(i.node)
	if err != nil {
		return err
	}
	return m.SkewClock(ctx, by)
}
