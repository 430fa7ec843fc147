package singlestore

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
)

var createAction = action.Action{
	Name: "singlestore.create-node", Version: 1,
	About: "Creates and starts a server on a host that the toolbox manages (sdb-admin create-node); it is not part of a cluster yet." + untried,
	New:   func() action.Task { return &create{} },
}

type create struct {
	onServer
}

var (
	_ action.Undoer         = (*create)(nil)
	_ action.InFlightWaiter = (*create)(nil)
)

func (s *create) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *create) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	is, err := findNode(ctx, on, s.Leaf)
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"exists": is != nil}, Intended: action.Facts{"exists": true}}
	if is != nil {
		f.State = action.Satisfied
	}
	return f, err
}

func (s *create) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	is, err := findNode(ctx, on, s.Leaf)
	if err != nil {
		return nil, err
	}
	if is == nil {
		if _, err := sdbAdmin(ctx, on, action.Mark(c), append([]string{"create-node", "--yes"}, s.hostPort()...)...); err != nil {
			return nil, err
		}
		if is, err = findNode(ctx, on, s.Leaf); err == nil && is == nil {
			err = fmt.Errorf("sdb-admin created a node, but lists none at %s: check whether its host is registered with another name", s.Leaf)
		}
		if err != nil {
			return nil, err
		}
	}
	return action.Facts{"id": is.ID, "leaf": s.Leaf}, nil
}

// Undo deletes the server with its data, of which it has none while it is part of no cluster.
func (s *create) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return deleteNode(ctx, on, s.Leaf, c)
}
