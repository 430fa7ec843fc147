package runbooktest

import (
	"context"

	"plimsoll/cluster"
	"plimsoll/infra/local"
)

// NewCluster is a cluster without an engine: its nodes are names, its machine is this one.
func NewCluster(name, environment string, nodes ...string) (*cluster.Cluster, error) {
	m, err := local.New()
	if err != nil {
		return nil, err
	}
	return &cluster.Cluster{Name: name, Environment: environment, Local: m, List: func(context.Context) ([]cluster.Node, error) {
		var all []cluster.Node
		for _, n := range nodes {
			all = append(all, cluster.Node{Name: n, Machine: m})
		}
		return all, nil
	}}, nil
}
