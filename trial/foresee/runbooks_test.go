package foresee

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
	"plimsoll/trial/spec"
)

// What the load cannot change stops the trial before it: a node, table or variable that is not there, and inputs that no step can have.
func TestWhatTheLoadCannotChangeStopsTheTrial(t *testing.T) {
	failed := func(s journal.PlanStep) *execute.Prepared {
		s.Key, s.Failed, s.Reason = "sat", true, "this server has no variable max_conections"
		return &execute.Prepared{Header: journal.Header{Plan: journal.Plan{Steps: []journal.PlanStep{s}}}}
	}
	for name, c := range map[string]struct {
		p     *execute.Prepared
		err   error
		first bool
		must  bool
		finds int
	}{
		"no such node":            {nil, &plan.InputError{Input: "node", Err: hint.With(cluster.ErrNoNode, "did you mean n1?")}, true, true, 1},
		"of another engine":       {nil, &hint.PermanentError{Reason: "runbook cql/drain is for clusters of engine cql"}, true, true, 1},
		"no such table":           {nil, fmt.Errorf("inputs: %w", &engine.Error{Kind: engine.Missing}), true, true, 1},
		"no answer":               {nil, errors.New("i/o timeout"), true, false, 1},
		"after an earlier change": {nil, cluster.ErrNoNode, false, false, 0},
		"no such variable":        {failed(journal.PlanStep{Absent: true}), nil, true, true, 1},
		"an impossible input":     {failed(journal.PlanStep{Impossible: true}), nil, true, true, 1},
		"a check that failed":     {failed(journal.PlanStep{}), nil, true, false, 1},
		"the second change":       {failed(journal.PlanStep{Absent: true}), nil, false, false, 0},
	} {
		found := ofPlan(&spec.Trial{Command: "plimsoll trial run t.yaml"}, "own/sat", c.p, c.err, c.first)
		if len(found) != c.finds || c.finds > 0 && (found[0].Must != c.must || !strings.HasPrefix(found[0].String(), "own/sat: ")) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
