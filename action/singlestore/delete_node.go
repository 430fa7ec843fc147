package singlestore

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

var deleteAction = action.Action{
	Name: "singlestore.delete-node", Version: 1,
	About: "Stops a server and deletes it with its data (sdb-admin delete-node). Refused while it is part of a cluster." + untried,
	New:   func() action.Task { return &remove{} },
}

// remove deletes a server.
type remove struct {
	onServer
}

var _ action.InFlightWaiter = (*remove)(nil)

func (s *remove) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// Check does not refuse a leaf: an earlier step takes it out of the cluster. The act does.
func (s *remove) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	is, err := findNode(ctx, on, s.Leaf)
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"exists": is != nil}, Intended: action.Facts{"exists": false}}
	if is == nil {
		f.State = action.Satisfied
	}
	return f, err
}

func (s *remove) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, deleteNode(ctx, on, s.Leaf, c)
}

// deleteNode deletes a server that is part of no cluster. One that is not there is fine.
func deleteNode(ctx context.Context, on *cluster.Cluster, address string, c action.Call) error {
	is, err := findNode(ctx, on, address)
	if err != nil || is == nil {
		return err
	}
	if !is.idle() {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is part of the cluster, as %s", address, is.Role),
			Advice: "remove the leaf first, with singlestore/remove-leaf"}
	}
	_, err = sdbAdmin(ctx, on, action.Mark(c), "delete-node", "--memsql-id", is.ID, "--stop", "--yes")
	return err
}
