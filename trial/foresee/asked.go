package foresee

import (
	"context"
	"errors"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/runbook/lock"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// SignalsAt names the signals of expectations that a server does not show now. Some are shown only when there is something to show.
func SignalsAt(ctx context.Context, t *spec.Trial, e engine.Engine, db engine.Database) ([]Foreseen, error) {
	metered, can := engine.As[engine.Metered](db)
	instrumented, knows := e.(engine.Instrumented)
	if !can || !knows {
		return nil, nil
	}
	readings, err := metered.Readings(ctx)
	if err != nil {
		return nil, err
	}
	var all []Foreseen
	for _, name := range namedSignals(t) {
		own := slices.ContainsFunc(instrumented.Signals(), func(known string) bool { return engine.NamesSignal(known, name) })
		if own && !slices.ContainsFunc(readings, func(r engine.Reading) bool { return r.Signal == name }) {
			all = append(all, Foreseen{Of: "signal " + name, Why: "this server does not show it now", Do: "an expectation on it will be INCONCLUSIVE if the server does not show it later"})
		}
	}
	return all, nil
}

// namedSignals are those of the expectations, each once.
func namedSignals(t *spec.Trial) []string {
	var names []string
	for _, c := range t.Expectations {
		for _, m := range c.Metrics {
			if m.OfSignal() && !slices.Contains(names, m.Signal) {
				names = append(names, m.Signal)
			}
		}
	}
	return names
}

// GrantsForLoad are the grants that the account of a target lacks for a trial's load.
func GrantsForLoad(ctx context.Context, t *spec.Trial, db engine.Database) ([]Foreseen, error) {
	e := t.Existing
	asked, can := engine.As[engine.Authorizing](db)
	if e == nil || e.Address.Namespace == "" || !can {
		return nil, nil
	}
	right := engine.ReadTables
	for _, c := range t.Cells {
		reading, is := c.Workload.(workload.Reading)
		if !is || slices.Contains(reading.ReadOnly(), false) || c.Load.Ledger != nil {
			right = engine.WriteTables
		}
	}
	var all []Foreseen
	for _, need := range []engine.Need{
		{Right: right, Of: e.Address.Namespace, For: "the load"},
		{Right: engine.SeeNodes, For: "the signals of the nodes, which would be missing"},
	} {
		lacks, err := asked.Lacks(ctx, []engine.Need{need})
		if err != nil {
			return all, err
		}
		for _, l := range lacks {
			all = append(all, Foreseen{
				Of: "account " + l.Account, Why: "it lacks " + strings.Join(l.Privileges, ", ") + " on " + l.Where + " for " + strings.Join(l.For, ", "),
				Do: "as an administrator: " + l.Grant + ";", Must: need.Right != engine.SeeNodes,
			})
		}
	}
	return all, nil
}

// GrantsToEnter are the grants that an account lacks for a trial's load on a target whose server does not let it into the database, or hides
// tables from it there: the server is asked outside of that database. None where it does not answer there either, which its refusal says.
func GrantsToEnter(ctx context.Context, t *spec.Trial, e engine.Engine, target engine.Target) []Foreseen {
	target.Namespace = ""
	db, err := e.Open(ctx, target)
	if err != nil {
		return nil
	}
	defer func() { _ = db.Close() }() // it only looked
	lacks, err := GrantsForLoad(ctx, t, db)
	if err != nil {
		return nil
	}
	return lacks
}

// LockAt says which run has a cluster now, from the cluster itself.
func LockAt(ctx context.Context, t *spec.Trial, clusterLock lock.ClusterLock, name string) []Foreseen {
	looker, can := clusterLock.(lock.Looker)
	if !can {
		return nil
	}
	var claimed *action.ClaimedError
	if err := looker.Look(ctx, name); errors.As(err, &claimed) {
		claimed.Again = t.Command
		return []Foreseen{{Of: "lock", Why: claimed.Error(), Do: claimed.Hint()}}
	}
	return nil
}
