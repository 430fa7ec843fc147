package foresee

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
	"plimsoll/trial/spec"
)

// What the account lacks for a runbook, and room on a disk that it lacks, stop the trial whichever runbook it is, with what to do.
func TestWhatARunbookLacksStopsTheTrial(t *testing.T) {
	lack := execute.Lack{Cluster: "shop", Nodes: []string{"n1"}, Lack: engine.Lack{Account: "'bare'@'%'", Privileges: []string{"ALTER"}, Where: "`shop`.*",
		For: []string{"step alter"}, Grant: "GRANT ALTER ON `shop`.* TO 'bare'@'%'"}}
	room := []execute.Room{{Step: "alter", Node: "n1", What: "a copy of table shop.orders", Needs: 3 << 30, Free: 2 << 30}, {Step: "alter", Node: "n2", Needs: 3 << 30, Free: 4 << 30}, {Step: "alter", Node: "n3", Needs: 3 << 30}}
	for _, found := range []Found{Changed, AsItIs, Prepared} {
		for _, c := range []struct {
			p       *execute.Prepared
			err     error
			why, do string
		}{
			{&execute.Prepared{Lacks: []execute.Lack{lack}}, nil, "account 'bare'@'%' of cluster shop lacks ALTER on `shop`.* at n1 (step alter)", "as an administrator: GRANT ALTER ON `shop`.* TO 'bare'@'%'"},
			{nil, &execute.LackError{All: []execute.Lack{lack}}, "account 'bare'@'%' of cluster shop lacks ALTER on `shop`.* at n1 (step alter)", "as an administrator: GRANT ALTER ON `shop`.* TO 'bare'@'%'"},
			{&execute.Prepared{Room: room}, nil, "too little disk: step alter takes about 3072 MiB on n1 for a copy of table shop.orders; 2048 MiB is free",
				"free some, or choose an algorithm that copies nothing: INSTANT, or INPLACE where it does not rebuild the table"},
		} {
			all := ofPlan(&spec.Trial{Command: "plimsoll trial run t.yaml"}, "own/alter", c.p, c.err, found)
			if len(all) != 1 || !all[0].Must || all[0].Why != c.why || all[0].Do != c.do {
				t.Errorf("found %d: %+v, want %q", found, all, c.why)
			}
		}
	}
}

// What the load cannot change stops the trial before it: a node, table or variable that is not there, and inputs that no step can have.
// On a cluster that has not the trial's data, or is not the trial's, only what is so on any cluster does.
func TestWhatTheLoadCannotChangeStopsTheTrial(t *testing.T) {
	failed := func(s journal.PlanStep) *execute.Prepared {
		s.Key, s.Failed, s.Reason = "sat", true, "this server has no variable max_conections"
		return &execute.Prepared{Header: journal.Header{Plan: journal.Plan{Steps: []journal.PlanStep{s}}}}
	}
	noNode := &plan.InputError{Input: "node", Err: hint.With(cluster.ErrNoNode, "did you mean n1?")}
	another := &runbook.OtherEngineError{PermanentError: &hint.PermanentError{Reason: "runbook cql/drain is for clusters of engine cql"}}
	noTable := fmt.Errorf("inputs: %w", &engine.Error{Kind: engine.Missing})
	for name, c := range map[string]struct {
		p     *execute.Prepared
		err   error
		found Found
		must  bool
		finds int
	}{
		"no such node":                 {nil, noNode, Prepared, true, 1},
		"of another engine":            {nil, another, Prepared, true, 1},
		"refused for good":             {nil, &hint.PermanentError{Reason: "no"}, Prepared, true, 1},
		"no such table":                {nil, noTable, Prepared, true, 1},
		"no answer":                    {nil, errors.New("i/o timeout"), Prepared, false, 1},
		"after an earlier change":      {nil, cluster.ErrNoNode, Changed, false, 0},
		"no such variable":             {failed(journal.PlanStep{Absent: true}), nil, Prepared, true, 1},
		"an impossible input":          {failed(journal.PlanStep{Impossible: true}), nil, Prepared, true, 1},
		"a check that failed":          {failed(journal.PlanStep{}), nil, Prepared, false, 1},
		"the second change":            {failed(journal.PlanStep{Absent: true}), nil, Changed, false, 0},
		"no such node as it is":        {nil, noNode, AsItIs, false, 1},
		"of another engine as it is":   {nil, another, AsItIs, true, 1},
		"refused for good as it is":    {nil, &hint.PermanentError{Reason: "no"}, AsItIs, false, 1},
		"no such table as it is":       {nil, noTable, AsItIs, false, 1},
		"no such variable as it is":    {failed(journal.PlanStep{Absent: true}), nil, AsItIs, false, 1},
		"an impossible input as it is": {failed(journal.PlanStep{Impossible: true}), nil, AsItIs, true, 1},
	} {
		found := ofPlan(&spec.Trial{Command: "plimsoll trial run t.yaml"}, "own/sat", c.p, c.err, c.found)
		if len(found) != c.finds || c.finds > 0 && (found[0].Must != c.must || !strings.HasPrefix(found[0].String(), "own/sat: ")) {
			t.Errorf("%s: %+v", name, found)
		}
		if note := c.found == AsItIs && !c.must; c.finds > 0 && strings.Contains(found[0].Why, "on this cluster, as it is now: ") != note {
			t.Errorf("%s: %q", name, found[0].Why)
		}
	}
}
