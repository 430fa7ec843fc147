package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// suffer has a lab suffer a fault, and ends it when its time is over. It tells what happened when.
//
// The action is given a cluster without an engine: it acts on the server processes and does not ask their databases, whose answers would
// take their time while one of them is frozen.
func suffer(ctx context.Context, on *lab.Cluster, u spec.Use, tell func(series.Event)) error {
	f := u.Fault
	reached := lab.AsCluster(on, nil, on.Server(u.Node).Machine())
	defer func() { _ = reached.Close() }() // the lab stays in its owner's hands
	found, err := u.Task.Check(ctx, reached.ReadOnly())
	if err != nil {
		return err
	}
	if found.State == action.Unknown {
		return fmt.Errorf("%s: %s", f.Name, found.Reason)
	}
	say := func(kind series.EventKind, node string, facts action.Facts) {
		if kind != "" {
			tell(series.Event{Kind: kind, Name: f.Name, Node: node, Detail: f.Detail(facts)})
		}
	}
	say(f.Began, u.Node, found.Intended)
	facts, err := u.Task.Act(ctx, reached, callOf(f, found))
	if err != nil {
		return err
	}
	node := u.Node
	if made, is := facts["node"].(string); is {
		node = made
	}
	say(u.Done, node, facts)
	if u.For == nil {
		return nil
	}
	waited := poll.Rest(ctx, *u.For)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endingTakes) // an interrupted trial leaves nothing broken
	defer cancel()
	if err := end(ending, reached, u, found); err != nil {
		return errors.Join(waited, err)
	}
	say(f.Over, u.Node, nil)
	return waited
}

// endingTakes is how long the end of a fault may take: a machine that was killed boots a kernel, and a server reads its log.
const endingTakes = 5 * time.Minute

// end ends a fault.
func end(ctx context.Context, on *cluster.Cluster, u spec.Use, found action.CheckResult) error {
	if u.Ending != nil {
		_, err := u.Ending.Act(ctx, on, callOf(u.Fault, action.CheckResult{}))
		return err
	}
	undo, can := u.Task.(action.Undoer)
	if !can {
		return fmt.Errorf("%s cannot be undone", u.Fault.Name)
	}
	return undo.Undo(ctx, on, callOf(u.Fault, found))
}

// callOf is the one attempt at a fault.
func callOf(f *spec.Fault, found action.CheckResult) action.Call {
	return action.Call{Step: f.Name, Attempt: 1, Token: f.Name, Before: found.Observed, Progress: func(float64, string) {}}
}
