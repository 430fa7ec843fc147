package catalog

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/inventory"
	"plimsoll/runbook/action"
)

// SiteOf opens a cluster of the inventory. Commands run on this machine.
func SiteOf(ctx context.Context, name string, c inventory.Cluster, here infra.Machine) (*action.Site, error) {
	password, err := c.Password.Value(ctx, here)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	e, err := EngineOf(c.Target(c.Nodes[0], ""))
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	var nodes, spares []action.Node
	for _, n := range c.Nodes {
		node := action.Node{Name: n.Name, Target: c.Target(n, password)}
		if n.Machine == "local" {
			node.Machine = here
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
	site := &action.Site{
		Name: name, Environment: c.Environment, Engine: e, Local: here, Spares: spares,
		List: func(context.Context) ([]action.Node, error) { return slices.Clone(nodes), nil },
	}
	if r := c.Replication; r != nil {
		password, err := r.Password.Value(ctx, here)
		if err != nil {
			return nil, fmt.Errorf("cluster %s, account of replication: %w", name, err)
		}
		site.Replication = &action.Account{User: r.User, Password: password}
	}
	site.AskRoles()
	return site, nil
}
