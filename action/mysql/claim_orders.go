package mysql

import (
	"context"
	"sync/atomic"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// endOrders ends the connections by which another process gives orders to servers of the cluster: it was killed, or has lost the cluster, and an
// order of it that is executed late would change what we find and do. Of a server that does not answer now, the connection is ended when it is
// given an order. It tells whether all that were found have ended.
func (m *ClusterLock) endOrders(ctx context.Context) (ended bool) {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return false
	}
	var stands atomic.Bool
	m.each(ctx, names(nodes), func(ctx context.Context, i int) bool {
		holder, err := m.cluster.Value(ctx, nodes[i].Name, admin.LockHolder(admin.OrderLock))
		if err != nil || holder == "NULL" {
			return err == nil
		}
		// There is little time for a claim where a run goes on, and a connection may take longer to end. It is seldom that there is one.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endsWithin)
		defer cancel()
		if err := m.cluster.Use(limited, nodes[i].Name, func(session engine.Session) error { return ordersBy(nodes[i], session).EndOthers(limited) }); err != nil {
			stands.Store(true)
		}
		return true
	})
	return !stands.Load()
}

// endsWithin is how long it may take to end a connection and what it executes.
const endsWithin = 6 * time.Second

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
