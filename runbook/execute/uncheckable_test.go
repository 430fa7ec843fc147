package execute

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/runbook/journal"
)

// astray is an action on a node that is not there.
type astray struct {
	Node string `yaml:"node" doc:"The node."`
}

func (*astray) Needs() []engine.Need {
	return []engine.Need{{Right: engine.SetVariable, Of: "max_conections"}, {Right: engine.AlterTables, Of: "shop"}}
}
func (*astray) Traits() action.Traits { return action.Traits{Effect: action.Irreversible} }
func (*astray) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed}, nil
}
func (a *astray) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, fmt.Errorf("cluster shop, node %q: %w", a.Node, cluster.ErrNoNode)
}
func (*astray) Verify(context.Context, *cluster.Cluster, action.Facts) error {
	return errors.New("it did nothing")
}

const goesAstray = "runbook: test/astray\nsteps:\n  - {id: go, uses: test.astray, with: {node: n9}}\n"

func withAstray(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.Actions = append(b.Actions, action.Action{Name: "test.astray", Version: 1, About: "Goes astray.", New: func() action.Task { return &astray{} }})
	return b
}

// A grant is advised for what it makes possible: where a variable is unknown, none does. A table that is not found may be one that the
// account may not see.
func TestAStepThatCannotBeCheckedAsksForNoGrants(t *testing.T) {
	t.Parallel()
	book := withAstray(t).parse(goesAstray)
	for _, c := range []struct {
		what string
		step journal.PlanStep
		want []engine.Right
	}{
		{"checked", journal.PlanStep{}, []engine.Right{engine.SetVariable, engine.AlterTables}},
		{"denied", journal.PlanStep{Failed: true, Denied: true}, []engine.Right{engine.SetVariable, engine.AlterTables}},
		{"no such variable", journal.PlanStep{Failed: true}, []engine.Right{engine.AlterTables}},
	} {
		c.step.Key, c.step.Uses = "go", "test.astray"
		var got []engine.Right
		for _, n := range needsOf(book, c.step) {
			got = append(got, n.Right)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: it needs %v, want %v", c.what, got, c.want)
		}
	}
}

// A node that is not there is the mistake of who named it, and says nothing of the change: a trial of it could not run.
func TestANodeThatIsNotThereIsABadInput(t *testing.T) {
	t.Parallel()
	b := withAstray(t)
	run := b.begin(Request{Book: b.parse(goesAstray), Cluster: "shop"})
	if i := b.runSession(run, journal.Command{Do: "run"}).Item("go"); i.Phase != journal.StepFailed || i.Cause != journal.BadInputs {
		t.Errorf("the step is %s, its cause %q: %s", i.Phase, i.Cause, i.Error)
	}
}
