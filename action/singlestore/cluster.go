package singlestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

// topology is what the master aggregator shows.
type topology struct {
	engine.Layout
	db engine.Sharded
}

func clusterOf(ctx context.Context, on *cluster.Cluster) (topology, error) {
	db, err := on.Database(ctx, "")
	if err != nil {
		return topology{}, err
	}
	sharded, ok := engine.As[engine.Sharded](db)
	if !ok {
		return topology{}, &hint.PermanentError{Reason: on.Name + " has no leaves", Advice: "these actions are for SingleStore"}
	}
	layout, err := sharded.Layout(ctx)
	return topology{layout, sharded}, err
}

// ready refuses to begin a change while a leaf but the one that is changed does not serve, a partition has no copy that does, or
// partitions are moving already.
func (c topology) ready(ctx context.Context, but string) error {
	if absent := c.absent(but); len(absent) > 0 {
		return &hint.PermanentError{Reason: "not every leaf is online: " + strings.Join(absent, ", "),
			Advice: "start them (sdb-admin start-node), or remove one that will not come back from the cluster by hand"}
	}
	if lost := c.short(1); len(lost) > 0 {
		return &hint.PermanentError{Reason: "no copy is online of " + some(lost),
			Advice: "bring the leaf that has them back online; a rebalance with FORCE would replace them with empty ones, and Plimsoll never does that"}
	}
	moves, err := c.db.Moves(ctx)
	if err != nil {
		return err
	}
	if underWay := opened(moves); len(underWay) > 0 {
		return &hint.PermanentError{Reason: fmt.Sprintf("another rebalance of %s is under way: %s", underWay[0].Database, said(moves)),
			Advice: "wait until it ends (SHOW REBALANCE STATUS), then plimsoll runbook resume RUN"}
	}
	return nil
}

// absent are the leaves, but one, that do not serve.
func (c topology) absent(but string) []string {
	var names []string
	for _, l := range c.Leaves {
		if l.Address != but && !l.Online() {
			names = append(names, l.Address+" is "+l.State)
		}
	}
	return names
}

// short are the partitions of which fewer copies than wanted are online.
func (c topology) short(wanted int) []string {
	var names []string
	for part, n := range c.Live() {
		if n < wanted {
			names = append(names, fmt.Sprintf("%s:%d", part.Database, part.Ordinal))
		}
	}
	slices.Sort(names)
	return names
}

// some are the first of many names.
func some(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// on is how many copies of partitions a leaf holds.
func (c topology) on(address string) (copies int) {
	for _, p := range c.Partitions {
		if p.Leaf == address {
			copies++
		}
	}
	return copies
}

// often is how often the cluster is asked how far it is.
const often = 500 * time.Millisecond

// orders are how the statements begin that move partitions, whoever gave them.
var orders = []string{"REBALANCE", "REMOVE LEAF"}

// settle returns when neither a program nor a statement of an act is under way, and no partition moves any more: what was
// ordered may go on in the cluster when who ordered it is gone.
func settle(ctx context.Context, on *cluster.Cluster, call action.Call) error {
	n, err := on.Node(ctx, "")
	if err != nil {
		return err
	}
	if n.Machine != nil {
		if err := action.AwaitProcesses(ctx, n.Machine, call); err != nil {
			return err
		}
	}
	for {
		going, err := underWay(ctx, on, append([]string{action.Signature(call)}, orders...))
		if err != nil {
			return fmt.Errorf("look for the command that was started: %w", err)
		}
		if going == "" {
			return nil
		}
		call.Progress(-1, "the statement that was started before is still running: "+going)
		if err := poll.Rest(ctx, often); err != nil {
			return fmt.Errorf("the statement that was started before is still running (%s): %w", going, err)
		}
	}
}

// underWay says what moves partitions now; "" if nothing does.
func underWay(ctx context.Context, on *cluster.Cluster, beginnings []string) (string, error) {
	db, err := on.Database(ctx, "")
	if err != nil {
		return "", err
	}
	sharded, is := engine.As[engine.Sharded](db)
	watched, does := engine.As[engine.InFlightCounting](db)
	if !is || !does {
		return "", errors.New("cannot tell whether partitions are moving")
	}
	for _, beginning := range beginnings {
		if n, err := watched.Executing(ctx, beginning); err != nil || n > 0 {
			return "a statement of the master aggregator", err
		}
	}
	moves, err := sharded.Moves(ctx)
	if err != nil || len(opened(moves)) == 0 {
		return "", err
	}
	return said(moves), nil
}
