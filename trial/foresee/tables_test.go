package foresee

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/trial/spec"
)

// A table that the timeline's SQL needs stops the trial before its load where nothing makes it: not what was executed before, nor the load.
func TestATableThatIsNotThereStopsTheTrial(t *testing.T) {
	lost, other := action.Table{Database: "shop", Name: "ordrs"}, action.Table{Database: "shop", Name: "new"}
	needs := func(p journal.Plan) *execute.Prepared {
		p.Steps = []journal.PlanStep{{Key: "sql", Lacks: []journal.AbsentTable{{Table: lost, Why: "there is no table shop.ordrs on n1 (did you mean shop.orders?)"}}}}
		return &execute.Prepared{Header: journal.Header{Plan: p}}
	}
	makes := func(p journal.Plan) *execute.Prepared { return &execute.Prepared{Header: journal.Header{Plan: p}} }
	shipped, own := []*spec.Cell{{Source: "oltp_read_write"}}, []*spec.Cell{{Source: "./load.yaml"}}
	for name, c := range map[string]struct {
		cells  []*spec.Cell
		first  Found
		before *execute.Prepared
		want   string
	}{
		"on the trial's servers":     {shipped, Prepared, nil, "[true]"},
		"on another cluster":         {shipped, AsItIs, nil, "[false]"},
		"after a table of that name": {shipped, Prepared, makes(journal.Plan{Makes: []action.Table{lost}}), "[]"},
		"after another table":        {shipped, Prepared, makes(journal.Plan{Makes: []action.Table{other}}), "[true]"},
		"after what may make it":     {shipped, Prepared, makes(journal.Plan{MakesAny: true}), "[]"},
		"under a load of one's own":  {own, Prepared, nil, "[]"},
	} {
		s := tablesFor(&spec.Trial{Cells: c.cells}, c.first)
		if c.before != nil {
			s.lacking("before", c.before)
		}
		must := []bool{}
		for _, f := range s.lacking("sql", needs(journal.Plan{})) {
			must = append(must, f.Must)
			if !strings.Contains(f.String(), "did you mean shop.orders?") {
				t.Errorf("%s: %s", name, f)
			}
		}
		if got := fmt.Sprint(must); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	s := tablesFor(&spec.Trial{Cells: shipped}, Prepared)
	if s.lacking("refused", nil); len(s.lacking("sql", needs(journal.Plan{}))) != 0 {
		t.Error("what could not be planned may make the table")
	}
}
