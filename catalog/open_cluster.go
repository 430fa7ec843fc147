package catalog

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/action/cql"
	"plimsoll/action/kube"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/remote"
	"plimsoll/infra/systemd"
	"plimsoll/inventory"
)

// OpenCluster opens a cluster of the inventory. Commands without a node run on this machine, the others on their node's, to which
// a line is opened when one is first needed there.
func OpenCluster(ctx context.Context, name string, c inventory.Cluster, here infra.Machine) (*cluster.Cluster, error) {
	password, err := c.Password.Value(ctx, here)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	e, err := EngineOf(c.Target(c.Nodes[0], ""))
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	var nodes, spares []cluster.Node
	machines := clusterMachines{here: here, opened: map[string]*remote.Machine{}}
	for _, n := range c.Nodes {
		node := cluster.Node{Name: n.Name, Target: c.Target(n, password), Instance: n.Instance, Data: n.Data}
		if m, reached := c.MachineOf(n); reached {
			node.Pod = m.Pod
		}
		if node.Machine, err = machines.of(c, n); err != nil {
			return nil, fmt.Errorf("cluster %s, machine of node %s: %w", name, n.Name, err)
		}
		if n.Service != "" {
			node.Server = systemd.Service{Machine: node.Machine, Unit: n.Service, Address: n.Address}
		}
		if node.Machine != nil {
			if tooled, ok := e.(engine.Administered); ok {
				node.Loose = true
				node.Tool = func(args ...string) (infra.Command, error) { return tooled.Tool(node.Target, args...), nil }
			}
		}
		if n.Spare {
			spares = append(spares, node)
			continue
		}
		nodes = append(nodes, node)
	}
	on := &cluster.Cluster{
		Name: name, Environment: c.Environment, Engine: e, Local: here, Spares: spares,
		List: func(context.Context) ([]cluster.Node, error) { return slices.Clone(nodes), nil },
	}
	onEC2(on, c, nodes, spares)
	if c.AWS != nil {
		on.AWS = &cluster.AWS{Region: c.AWS.Region, Profile: c.AWS.Profile, Aurora: c.AWS.Aurora, Every: c.AWS.Every}
	}
	if k := c.Kubernetes; k != nil {
		on.Kubernetes = &cluster.Kubernetes{Context: k.Context, Config: k.Kubeconfig, Namespace: k.Namespace, Operator: k.Operator, Name: k.Name}
		on.Kubernetes.Paused = func(ctx context.Context) (bool, error) { return kube.Paused(ctx, on) }
	}
	for _, m := range machines.opened {
		on.Keep(m)
	}
	if r := c.Replication; r != nil {
		password, err := r.Password.Value(ctx, here)
		if err != nil {
			return nil, fmt.Errorf("cluster %s, account of replication: %w", name, err)
		}
		on.Replication = &cluster.Account{User: r.User, Password: password}
	}
	on.AskRoles()
	LookAtReturns(on)
	return on, nil
}

// LookAtReturns has a cluster look at the data of a member of a ring before its server is started again.
func LookAtReturns(on *cluster.Cluster) {
	if on.Engine != nil && on.Engine.Name() == "cql" {
		on.Returning = func(ctx context.Context, node string) (bool, error) { return cql.Returning(ctx, on, node) }
	}
}

// clusterMachines are the machines of a cluster's nodes: one for nodes that share it.
type clusterMachines struct {
	here   infra.Machine
	opened map[string]*remote.Machine
}

// of is a node's machine, nil if it is not known.
func (s clusterMachines) of(c inventory.Cluster, n inventory.Node) (infra.Machine, error) {
	if n.Machine == inventory.Local {
		return s.here, nil
	}
	if m := s.opened[n.Machine]; m != nil {
		return m, nil
	}
	reached, known := c.MachineOf(n)
	if !known {
		return nil, nil
	}
	m, err := ReachedMachine(n.Machine, reached, s.here)
	if err != nil {
		return nil, err
	}
	s.opened[n.Machine] = m
	return m, nil
}
