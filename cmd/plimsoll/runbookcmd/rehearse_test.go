package runbookcmd

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/analyze"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/result"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// A rehearsal that teaches nothing is tried three times, except one that found nothing to do: it would find the same again.
func TestARehearsalWithNothingToDoIsNotTriedAgain(t *testing.T) {
	for unchanged, times := range map[bool]int{false: misses, true: 1} {
		p := &execute.Prepared{Header: journal.Header{Runbook: "own/change", Cluster: "shop", Environment: runbook.Production}, Gate: plan.GateState{Needed: 3}}
		done := 0
		measure := func() (*result.Result, error) {
			done++
			return &result.Result{Verdict: result.Verdict{Verdict: analyze.Invalid, Unchanged: unchanged, Reasons: []string{"set: already done"}}}, nil
		}
		var out, errs bytes.Buffer
		_, err := rehearseUntilOpen(console.Streams{Out: &out, Err: &errs}, p, measure, func() (*execute.Prepared, error) { return p, nil })
		if code := (console.WithCode{}); done != times || !errors.As(err, &code) || code.Code != console.VerdictExit(analyze.Invalid) {
			t.Errorf("unchanged %v: %d rehearsals, want %d; %v", unchanged, done, times, err)
		}
		if said := errs.String(); strings.Contains(said, "tries again") == unchanged || strings.Contains(said, "there was nothing to do") != unchanged {
			t.Errorf("unchanged %v: %s", unchanged, said)
		}
	}
}

func TestWhatIsThereAlreadyIsSaid(t *testing.T) {
	set := journal.PlanStep{Key: "each[a].set", Uses: "mysql.set-variable", Effect: action.Reversible, State: action.Satisfied, Inputs: action.Facts{"name": "max_connections"}, Observed: action.Facts{"value": "990"}}
	other := set
	other.Key = "each[b].set"
	index := journal.PlanStep{Key: "index", Uses: "sql.execute", Effect: action.Irreversible, State: action.Satisfied, Observed: action.Facts{"value": "1"}}
	asks := journal.PlanStep{Key: "ask", Approval: "Go on?", Unasked: true}
	if got, want := alreadyThere(journal.Plan{Steps: []journal.PlanStep{asks, set, other, index}}), "max_connections is 990 already; index: already so: value 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
