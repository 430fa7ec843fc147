package cql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

var cleanupAction = action.Action{
	Name: "cql.cleanup", Version: 1,
	About: "Removes from a node's disk what others own since the ring changed.",
	New:   func() action.Task { return &upkeep{order: []string{"cleanup"}} },
}

var repairAction = action.Action{
	Name: "cql.repair", Version: 1,
	About: "Compares a node's own ranges with the other replicas and brings all to the same data.",
	New:   func() action.Task { return &upkeep{order: []string{"repair", "--full", "--partitioner-range"}} },
}

// upkeep is work that nodetool has a node do to its end; nothing tells afterwards that it was done.
type upkeep struct {
	Node     string `yaml:"node,required" doc:"Which node."`
	Keyspace string `yaml:"keyspace" doc:"Of which keyspace. Default: all."`

	order []string
}

var _ action.Verifier = (*upkeep)(nil)

// Nature says irreversible, and yet repeatable: what it does twice comes to the same.
func (u *upkeep) Nature() action.Nature {
	return action.Nature{Effect: action.Irreversible, Repeatable: true}
}

// Check always finds it needed, and refuses while the ring is not whole.
func (u *upkeep) Check(ctx context.Context, on *action.Site) (action.Finding, error) {
	f := action.Finding{State: action.Needed, Intended: action.Facts{"done": u.order[0]}}
	if _, err := on.Node(ctx, u.Node); err != nil {
		return f, err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return f, err
	}
	v, err := r.view(ctx, "")
	if err != nil {
		return f, err
	}
	return f, v.whole(ctx)
}

func (u *upkeep) Act(ctx context.Context, on *action.Site, c action.Call) (action.Facts, error) {
	n, err := on.Node(ctx, u.Node)
	if err != nil {
		return nil, err
	}
	order := u.order
	if u.Keyspace != "" {
		order = append(order[:len(order):len(order)], u.Keyspace)
	}
	ordered := make(chan error, 1)
	go func() {
		_, err := tool(ctx, n, order...)
		ordered <- err
	}()
	r, err := ringOf(ctx, on)
	if err != nil {
		return nil, errors.Join(err, <-ordered)
	}
	for {
		select {
		case err := <-ordered:
			return action.Facts{"done": order[0]}, err
		case <-time.After(time.Second):
			u.told(ctx, r, n, c)
		}
	}
}

// told reports what the node says that it has done of the work on its files.
func (u *upkeep) told(ctx context.Context, r *ring, n action.Node, c action.Call) {
	v, err := r.viewOf(ctx, n)
	if err != nil {
		return // it is busy, and goes on
	}
	tasks, err := v.db.Tasks(ctx)
	if err != nil {
		return
	}
	var done, total int64
	for _, t := range tasks {
		if host(t.Node) == host(n.Target.Addresses[0]) {
			done, total = done+t.Done, total+t.Total
		}
	}
	if total > 0 {
		c.Progress(float64(done)/float64(total), fmt.Sprintf("nodetool %s, task under way", u.order[0]))
		return
	}
	c.Progress(-1, "nodetool "+u.order[0])
}

// Verify finds that the node is a normal member.
func (u *upkeep) Verify(ctx context.Context, on *action.Site, _ action.Facts) error {
	n, err := on.Node(ctx, u.Node)
	if err != nil {
		return err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return err
	}
	v, err := r.viewOf(ctx, n)
	if err != nil {
		return err
	}
	if is := v.member(n); is == nil || is.Part != engine.Normal {
		return fmt.Errorf("node %s is no normal member", n.Name)
	}
	return nil
}
