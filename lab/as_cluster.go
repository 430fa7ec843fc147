package lab

import (
	"context"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
)

// AsCluster is a lab cluster as runs reach it, which its caller holds for as long as that is used.
func AsCluster(c *Cluster, e engine.Engine, m infra.Machine) *cluster.Cluster {
	s := &cluster.Cluster{Name: c.Name(), Environment: cluster.Lab, Engine: e, Local: m, Made: c.record.Made, Grower: c.Growth(), Restorer: c}
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
			server := c.Server(n.Name)
			var host cluster.Host
			if c.record.hasMachine(n.Name) {
				host = server.Host()
			}
			nodes = append(nodes, cluster.Node{
				Name: n.Name, Target: target, Data: n.Data(), Host: host,
				Machine: server.Machine(), Server: server, Tool: server.Tool,
			})
		}
		return nodes, nil
	}
	s.AskRoles()
	return s
}
