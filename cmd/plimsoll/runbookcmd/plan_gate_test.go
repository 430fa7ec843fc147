package runbookcmd

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// What was rehearsed is shown with its inputs as one types them, also large whole numbers, which JSON reads as others.
func TestAGateShowsInputsAsTheyAreTyped(t *testing.T) {
	var out bytes.Buffer
	was := journal.Rehearsal{Trial: "results/rehearse", Cluster: "lab", Product: "MariaDB", Minor: "11.4", Topology: "pair", Inputs: action.Facts{"name": "max_connections", "value": 2000000.0}}
	printGate(&out, &execute.Prepared{Gate: plan.GateState{Needed: 1, Passed: []journal.Rehearsal{was}}})
	if want := "MariaDB 11.4 (pair) lab with name=max_connections, value=2000000  results/rehearse\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q, want %q at its end", out.String(), want)
	}
	// Its time is that of its trial in the list of results, and that its result is gone is said.
	was.Trial = filepath.Join(t.TempDir(), "removed")
	was.Began, was.At = time.Date(2026, 1, 31, 12, 0, 0, 0, time.Local), time.Date(2026, 1, 31, 12, 9, 0, 0, time.Local)
	out.Reset()
	printGate(&out, &execute.Prepared{Gate: plan.GateState{Needed: 1, Passed: []journal.Rehearsal{was}}})
	if got := out.String(); !strings.HasSuffix(got, was.Trial+" (result not found)\n") || !strings.Contains(got, "  2026-01-31 12:00  ") {
		t.Errorf("%q", got)
	}
}

// A plan needs no run where all that could change something is so already, and nothing else is to be done or found out.
func TestAPlanThatNeedsNoRun(t *testing.T) {
	so := journal.PlanStep{Key: "index", Uses: "sql.execute", Effect: action.Irreversible, State: action.Satisfied}
	for what, c := range map[string]struct {
		and  journal.PlanStep
		held error
		want bool
	}{
		"all is so":      {so, nil, true},
		"not asked":      {journal.PlanStep{Key: "ok", Approval: "Go on?", Unasked: true}, nil, true},
		"a look":         {journal.PlanStep{Key: "look", Uses: "superdisk.check", Effect: action.None, State: action.Needed}, nil, false},
		"a change":       {journal.PlanStep{Key: "more", Uses: "sql.execute", Effect: action.Reversible, State: action.Needed}, nil, false},
		"known later":    {journal.PlanStep{Key: "each", Later: []string{"index"}}, nil, false},
		"not known":      {journal.PlanStep{Key: "more", Uses: "sql.execute", State: action.Unknown}, nil, false},
		"another has it": {so, errors.New("held"), false},
	} {
		p := &execute.Prepared{Held: c.held, Header: journal.Header{Plan: journal.Plan{Steps: []journal.PlanStep{so, c.and}}}}
		if got := idlePlan(p); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}

// A step that leaves alone what it did not make says so, and not that it is already so.
func TestAPlanSaysWhatIsLeftAlone(t *testing.T) {
	left := journal.PlanStep{Key: "destroy", Uses: "server.destroy", State: action.Satisfied, Reason: "Plimsoll did not create this server, and leaves it alone"}
	if got, want := intention(left), "nothing to do: "+left.Reason; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	left.Observed, left.Reason = action.Facts{"exists": false}, ""
	if got := intention(left); got != "already so: exists false" {
		t.Errorf("%q", got)
	}
}

// A cluster that answers, and refuses the account the look at its lock, lets no run begin; one that does not answer may.
func TestAPlanSaysWhichClustersLockCannotBeRead(t *testing.T) {
	const denied = "SELECT command denied (1142)"
	for want, refusing := range map[string][]string{
		"Lock: cluster shop does not let the account read whether another run holds it (" + denied + "). No run begins without these grants\n":                                     {"shop"},
		"Lock: Plimsoll cannot see whether another run has locked cluster shop (" + denied + "). If you start a run anyway, it locks the cluster as soon as the cluster answers\n": nil,
	} {
		var out bytes.Buffer
		printPlan(&out, &execute.Prepared{Silent: map[string]string{"shop": denied}, Refusing: refusing})
		if !strings.Contains(out.String(), want) || strings.Count(out.String(), "Lock:") != 1 {
			t.Errorf("%s lacks %q", out.String(), want)
		}
	}
}

// A login that is refused is no grant that is missing.
func TestAPlanSaysThatTheLoginIsRefused(t *testing.T) {
	var out bytes.Buffer
	printPlan(&out, &execute.Prepared{Silent: map[string]string{"shop": "Access denied (1045)"}, Refusing: []string{"shop"}, NoLogin: []string{"shop"}})
	if got := out.String(); !strings.Contains(got, "Lock: cluster shop refuses the login of the account (Access denied (1045))") || strings.Contains(got, "grants") {
		t.Errorf("%q", got)
	}
}

// A reason that several steps have stands once, and a size beside the other in its unit.
func TestAPlanSaysAReasonOnce(t *testing.T) {
	var out bytes.Buffer
	printPlan(&out, &execute.Prepared{Header: journal.Header{Plan: journal.Plan{Steps: []journal.PlanStep{
		{Key: "each[db2].set", Uses: "mysql.set-variable", Failed: true, Reason: "this server has no variable max_connectoins"},
		{Key: "each[db1].set", Uses: "mysql.set-variable", Failed: true, Reason: "this server has no variable max_connectoins"},
		{Key: "pool", Uses: "mysql.set-variable", State: action.Needed, Observed: action.Facts{"value": "134217728"}, Intended: action.Facts{"value": "160M"}},
	}}}})
	for _, want := range []string{
		"! each[db2].set  mysql.set-variable  cannot be checked: this server has no variable max_connectoins\n",
		"! each[db1].set  mysql.set-variable  cannot be checked, for the same reason as step each[db2].set\n",
		"~ pool           mysql.set-variable  value 128M → 160M\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %q", out.String(), want)
		}
	}
}
