package singlestore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

var rebalanceAction = action.Action{
	Name: "singlestore.rebalance", Version: 1,
	About: "Spreads the partitions of databases over the leaves (REBALANCE PARTITIONS), and reports the progress of copies, promotions and drops. Never uses FORCE." + untried,
	New:   func() action.Task { return &rebalance{} },
}

type rebalance struct {
	Database string `yaml:"database" doc:"The database. Default: all that have partitions, one after another."`
}

var _ action.InFlightWaiter = (*rebalance)(nil)

// Traits says irreversible: where each partition was before is not kept. It is repeatable: what was moved is not moved again.
func (r *rebalance) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (r *rebalance) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	c, err := clusterOf(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{}, Intended: action.Facts{"moves": 0}}
	planned := 0
	var all []engine.Move
	for _, database := range r.databases(c) {
		moves, err := c.db.Planned(ctx, database)
		if err != nil {
			return f, err
		}
		f.Observed[database] = counted(moves)
		planned, all = planned+len(moves), append(all, moves...)
	}
	if planned == 0 {
		f.State = action.Satisfied
		return f, nil
	}
	if d := left(all).Round(time.Second); d > 0 {
		f.Reason = fmt.Sprintf("about %s by the server's estimate", d)
	}
	if err := c.ready(ctx, ""); err != nil {
		return f, err
	}
	if alone := c.alone(); c.Paired && len(alone) > 0 {
		return f, &hint.PermanentError{Reason: "leaves work in pairs, and these have no partner: " + strings.Join(alone, ", "),
			Advice: "add a leaf to the other availability group first"}
	}
	return f, nil
}

func (r *rebalance) databases(c topology) []string {
	if r.Database != "" {
		return []string{r.Database}
	}
	return c.Databases()
}

// counted says what moves there are: 2 copy, 2 promote.
func counted(moves []engine.Move) string {
	count := map[string]int{}
	for _, m := range moves {
		kind, _, _ := strings.Cut(strings.ToLower(m.Action), " ")
		count[kind]++
	}
	var parts []string
	for kind, n := range count {
		parts = append(parts, fmt.Sprintf("%d %s", n, kind))
	}
	if len(parts) == 0 {
		return "balanced"
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// alone are the leaves without a pair.
func (c topology) alone() (names []string) {
	for _, l := range c.Leaves {
		if l.Pair == "" {
			names = append(names, l.Address)
		}
	}
	return names
}

func (r *rebalance) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	c, err := clusterOf(ctx, on)
	if err != nil {
		return nil, err
	}
	for _, database := range r.databases(c) {
		moves, err := c.db.Planned(ctx, database)
		if err != nil {
			return nil, err
		}
		if len(moves) == 0 {
			continue
		}
		statement := action.Signature(call) + "REBALANCE PARTITIONS ON " + on.Engine.(engine.Relational).Quote(database)
		ordered := make(chan error, 1)
		go func() { ordered <- on.Execute(ctx, "", []string{statement}, func(int) {}) }()
		if err := follow(ctx, c.db, call, ordered, "rebalance of "+database); err != nil {
			return nil, fmt.Errorf("rebalance %s: %w", database, err)
		}
	}
	return nil, nil
}

// AwaitInFlight waits for the end of a rebalance that goes on in the cluster.
func (r *rebalance) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, c)
}
