package action

import (
	"context"
	"fmt"
	"strconv"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/lab"
)

// OfLab is the site of a lab cluster, which its caller keeps in hand for as long as the site is used.
func OfLab(c *lab.Cluster, e engine.Engine, m infra.Machine) *Site {
	s := &Site{Name: c.Name(), Environment: "lab", Engine: e, Local: m, Grower: labGrower{c}}
	s.List = func(context.Context) ([]Node, error) {
		var nodes []Node
		for _, n := range c.Nodes() {
			target, err := c.Target(n.Name)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, Node{
				Name: n.Name, Target: target, Machine: m, Server: labServer{c, n.Name}, Data: n.Data(),
				Tool: func(args ...string) (infra.Command, error) { return c.Tool(n.Name, args...) },
			})
		}
		return nodes, nil
	}
	s.AskRoles()
	return s
}

// labServer works one node of a lab cluster.
type labServer struct {
	cluster *lab.Cluster
	node    string
}

var (
	_ Server     = labServer{}
	_ Breaker    = labServer{}
	_ Identified = labServer{}
	_ Assignable = labServer{}
	_ Joining    = labServer{}
	_ Mortal     = labServer{}
)

func (s labServer) find() (lab.Node, error) {
	for _, n := range s.cluster.Nodes() {
		if n.Name == s.node {
			return n, nil
		}
	}
	return lab.Node{}, fmt.Errorf("cluster %s, node %q: %w", s.cluster.Name(), s.node, ErrNoNode)
}

func (s labServer) Running(context.Context) (bool, error) {
	n, err := s.find()
	return n.State != lab.Stopped, err
}

func (s labServer) Frozen(context.Context) (bool, error) {
	n, err := s.find()
	return n.State == lab.Frozen, err
}

// Process is the server's process id.
func (s labServer) Process(context.Context) (string, error) {
	n, err := s.find()
	return strconv.Itoa(n.PID), err
}

// Assigned are the settings of this node alone.
func (s labServer) Assigned(context.Context) (map[string]string, error) {
	return s.cluster.Assigned(s.node), nil
}

// Assign gives the node settings of its own for its next start.
func (s labServer) Assign(ctx context.Context, settings map[string]string) error {
	return s.cluster.Assign(ctx, settings, s.node)
}

// ExpectEnd says that the node is going to end by itself.
func (s labServer) ExpectEnd(context.Context) error { return s.cluster.ExpectEnd(s.node) }

// Launch starts the node and does not wait until it serves.
func (s labServer) Launch(ctx context.Context) error { return s.cluster.Launch(ctx, s.node) }

func (s labServer) Start(ctx context.Context) error  { return s.cluster.Start(ctx, s.node) }
func (s labServer) Stop(ctx context.Context) error   { return s.cluster.Stop(ctx, s.node) }
func (s labServer) Kill(ctx context.Context) error   { return s.cluster.Kill(ctx, s.node) }
func (s labServer) Freeze(ctx context.Context) error { return s.cluster.Freeze(ctx, s.node) }
func (s labServer) Thaw(ctx context.Context) error   { return s.cluster.Thaw(ctx, s.node) }
