package cql

import (
	"context"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// Node is one node, for who asks it little and for long, such as a watch. It has the fewest connections that the driver can do with: one for
// statements, which all of its sessions share, and one for what the driver itself asks.
type Node struct{ driver *gocql.Session }

// OpenNode connects to the target's first address, and looks for no other node.
func OpenNode(ctx context.Context, t engine.Target) (*Node, error) {
	checked, err := newTarget(t)
	if err != nil {
		return nil, &engine.TargetError{Err: err}
	}
	driver, err := alone(ctx, checked, checked.Addresses[0])
	if err != nil {
		return nil, err
	}
	return &Node{driver}, nil
}

// Session begins a stream of statements; it asks the node nothing.
func (n *Node) Session() engine.Session { return newSession(n.driver) }

// Close ends the connections, and with them all sessions.
func (n *Node) Close() { shut(n.driver) }
