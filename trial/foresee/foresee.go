// Package foresee says before a trial's load what would keep it from its end: settings, grants, data, signals and locks, and what the plans of
// its runbooks say.
package foresee

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/trial/spec"
)

// Foreseen is something that is known of a trial before there is load.
type Foreseen struct {
	At   string `json:"at,omitempty"` // the place in a file, of what the trial's timeline or its preparation executes
	Of   string `json:"of"`           // of what: a setting, a signal, a guardrail, the account, the lock, a runbook
	Why  string `json:"why"`          // a sentence
	Do   string `json:"do,omitempty"` // what to do
	Must bool   `json:"must"`         // the trial could not run with it; else it may
}

func (f Foreseen) String() string {
	text := f.Why
	for _, before := range []string{f.Of, f.At} {
		if before != "" {
			text = before + ": " + text
		}
	}
	return text
}

// at is the place of a call in the trial's file.
func at(call spec.Call) string {
	if call.At == nil || call.At.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", call.At.File, call.At.Line, call.At.Column)
}

// foreseen is a refusal of what must be otherwise.
func foreseen(t *spec.Trial, of string, err error) Foreseen {
	return Foreseen{Of: of, Why: err.Error(), Do: journal.OfPlan(hint.Of(err), t.Command), Must: true}
}

// Foresee asks a cluster that runs what can be told of a trial before its load, and changes nothing.
func Foresee(ctx context.Context, t *spec.Trial, parts spec.Parts, on *cluster.Cluster, prepare func(context.Context, execute.Request) (*execute.Prepared, error)) ([]Foreseen, error) {
	db, err := on.Database(ctx, "")
	if engine.ClassOf(err) == engine.Denied {
		if lacks := lacksToEnter(ctx, t, on); len(lacks) > 0 {
			if prepare != nil && t.RunsRunbooks() {
				lacks = append(lacks, RunbooksAt(ctx, t, prepare, on.Name, Changed)...) // one list of all that is to be granted
			}
			return lacks, nil
		}
	}
	if err != nil {
		return nil, err
	}
	all, err := SettingsAt(ctx, t, db)
	if err != nil {
		return all, err
	}
	signals, err := SignalsAt(ctx, t, on.Engine, db)
	if err != nil {
		return all, err
	}
	grants, err := GrantsForLoad(ctx, t, db)
	if err != nil {
		return all, err
	}
	data, err := DataAt(ctx, t, on)
	if err != nil {
		return all, err
	}
	all = slices.Concat(all, signals, grants, data)
	if parts.ClusterLock != nil {
		if clusterLock := parts.ClusterLock(on); clusterLock != nil {
			for _, held := range LockAt(ctx, t, clusterLock, on.Name) {
				held.Why = "a trial would be refused now: " + held.Why // it may be valid later: the lock is not the file's fault
				all = append(all, held)
			}
		}
	}
	if prepare != nil && t.RunsRunbooks() {
		all = append(all, RunbooksAt(ctx, t, prepare, on.Name, AsItIs)...)
	}
	return all, ctx.Err()
}

// lacksToEnter asks the first node of a cluster that answers outside of its database what the account lacks for the load.
func lacksToEnter(ctx context.Context, t *spec.Trial, on *cluster.Cluster) []Foreseen {
	nodes, err := on.List(ctx)
	if err != nil || on.Engine == nil {
		return nil
	}
	for _, n := range nodes {
		if lacks := GrantsToEnter(ctx, t, on.Engine, n.Target); len(lacks) > 0 {
			return lacks
		}
	}
	return nil
}
