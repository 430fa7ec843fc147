package mysql

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// endOrders ends the connections by which another process gives orders to servers of the cluster: it was killed, or has lost the cluster, and an
// order of it that is executed late would change what we find and do. Of a server that does not answer now, the connection is ended when it is
// given an order.
func (m *ClusterLock) endOrders(ctx context.Context) error {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	m.each(ctx, names(nodes), func(ctx context.Context, i int) bool {
		return m.cluster.Use(ctx, nodes[i].Name, func(session engine.Session) error {
			return ordersBy(nodes[i], session).EndOthers(ctx)
		}) == nil
	})
	return nil
}

// ordersBy are how a node is asked and told by a session.
func ordersBy(node cluster.Node, session engine.Session) admin.Orders {
	return admin.Orders{
		Name:    node.Name,
		Address: node.Target.Addresses[0],
		Value:   func(ctx context.Context, query string) (string, error) { return cluster.ValueOf(ctx, session, query) },
		Do: func(ctx context.Context, statements ...string) error {
			return cluster.ExecuteBy(ctx, session, statements, func(int) {})
		},
	}
}
