package singlestore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var addAction = action.Action{
	Name: "singlestore.add-leaf", Version: 1,
	About: "Adds a server to the cluster as a leaf (sdb-admin add-leaf), and waits until it is online. It holds no data until singlestore.rebalance." + untried,
	New:   func() action.Task { return &add{} },
}

type add struct {
	onServer
	Group int `yaml:"group" doc:"Availability group, 1 or 2. Default: the cluster chooses the smaller one."`
}

var (
	_ action.Undoer         = (*add)(nil)
	_ action.InFlightWaiter = (*add)(nil)
)

func (s *add) Validate() error {
	if s.Group < 0 || s.Group > 2 {
		return errors.New("group is 1 or 2")
	}
	return s.onServer.Validate()
}

func (s *add) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *add) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	c, err := clusterOf(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, member := c.Leaf(s.Leaf)
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"leaves": len(c.Leaves)}, Intended: action.Facts{"state": "online"}}
	if member {
		f.Observed = action.Facts{"state": is.State}
		if is.Online() {
			f.State = action.Satisfied
			return f, nil
		}
	}
	if s.Group > c.Copies {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("there is no availability group %d: the redundancy level is %d", s.Group, c.Copies),
			Advice: "leave group out"}
	}
	return f, c.ready(ctx, s.Leaf)
}

func (s *add) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	now, err := clusterOf(ctx, on)
	if err != nil {
		return nil, err
	}
	if _, member := now.Leaf(s.Leaf); !member {
		if err := s.order(ctx, on, c); err != nil {
			return nil, err
		}
	}
	for {
		if now, err = clusterOf(ctx, on); err != nil {
			return nil, err
		}
		is, member := now.Leaf(s.Leaf)
		if member && is.Online() {
			return action.Facts{"leaf": is.Address, "group": is.Group, "pair": is.Pair}, nil
		}
		c.Progress(-1, "the leaf is "+is.State)
		if err := poll.Rest(ctx, often); err != nil {
			return nil, fmt.Errorf("%w; the leaf is %q", err, is.State)
		}
	}
}

func (s *add) order(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	is, err := findNode(ctx, on, s.Leaf)
	if err != nil {
		return err
	}
	if is == nil {
		return &hint.PermanentError{Reason: "sdb-admin knows no node at " + s.Leaf, Advice: "create it first, with singlestore.create-node"}
	}
	args := []string{"add-leaf", "--memsql-id", is.ID, "--yes"}
	if s.Group > 0 {
		args = append(args, "--availability-group", strconv.Itoa(s.Group))
	}
	_, err = sdbAdmin(ctx, on, action.Mark(c), args...)
	return err
}

// Undo takes the leaf out again: what a rebalance has put on it meanwhile goes back to the others.
func (s *add) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return leave(ctx, on, s.onServer, c)
}
