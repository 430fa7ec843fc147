package singlestore

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

var removeAction = action.Action{
	Name: "singlestore.remove-leaf", Version: 1,
	About: "Moves the data of a leaf to the others and removes it from the cluster (sdb-admin remove-leaf); its server stays. Refused if the others could not hold every copy." + untried,
	New:   func() action.Task { return &goes{} },
}

// goes takes a leaf out of the cluster.
type goes struct {
	onServer
}

var (
	_ action.ApprovalDemander = (*goes)(nil)
	_ action.InFlightWaiter   = (*goes)(nil)
)

// Traits says irreversible: the leaf can be added again, but what was on it does not come back by that.
func (s *goes) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (s *goes) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	c, err := clusterOf(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, member := c.Leaf(s.Leaf)
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"member": false}}
	if !member {
		f.State, f.Observed = action.Satisfied, action.Facts{"member": false}
		return f, nil
	}
	f.Observed = action.Facts{"member": true, "state": is.State, "partitions": c.on(s.Leaf)}
	if c.Paired && is.Pair != "" {
		f.Observed["pair"] = is.Pair
	}
	if !is.Online() {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("leaf %s is %s: it cannot move its data to the others", s.Leaf, is.State),
			Advice: "bring it online first; remove a leaf that will not come back by hand, once every partition has a copy elsewhere"}
	}
	left := 0
	for _, l := range c.Leaves {
		if l.Address != s.Leaf && l.Group == is.Group {
			left++
		}
	}
	if left == 0 {
		return f, &hint.PermanentError{
			Reason: fmt.Sprintf("%s is the last leaf of availability group %d, and the redundancy level is %d: no leaf would be left for its partitions", s.Leaf, is.Group, c.Copies),
			Advice: "add another leaf to the group first, with singlestore/add-leaf"}
	}
	return f, c.ready(ctx, s.Leaf)
}

// ApprovalReason tells of a pair that is left alone.
func (s *goes) ApprovalReason(f action.CheckResult) string {
	pair, _ := f.Observed["pair"].(string)
	if pair == "" {
		return ""
	}
	return fmt.Sprintf("leaves work in pairs: the data of %s has no second copy until its partner %s is removed too or gets another partner", s.Leaf, pair)
}

func (s *goes) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, leave(ctx, on, s.onServer, c)
}

// leave takes a leaf out of the cluster, and tells how far its partitions have moved. One that is none is fine.
func leave(ctx context.Context, on *cluster.Cluster, s onServer, c action.Call) error {
	now, err := clusterOf(ctx, on)
	if err != nil {
		return err
	}
	if _, member := now.Leaf(s.Leaf); !member {
		return nil
	}
	ordered := make(chan error, 1)
	go func() {
		_, err := sdbAdmin(ctx, on, action.Mark(c), append([]string{"remove-leaf", "--yes"}, s.hostPort()...)...)
		ordered <- err
	}()
	return follow(ctx, now.db, c, ordered, "sdb-admin remove-leaf")
}
