package plan

import (
	"errors"
	"testing"

	"plimsoll/action"
	"plimsoll/runbook/journal"
)

// A rolling group that is refused for one reason says it once, with what to do.
func TestWhatKeepsARunFromBeginningIsSaidOnce(t *testing.T) {
	p := journal.Plan{Steps: []journal.PlanStep{
		{Key: "whole"},
		{Key: "each[a].drain", Failed: true, Reason: "no nodetool for a", Advice: "name its machine"},
		{Key: "each[a].restart", Failed: true, Reason: "no answer"},
		{Key: "each[b].drain", Failed: true, Reason: "no nodetool for b", Advice: "name its machine"},
		{Key: "each[c].restart", Failed: true, Reason: "no answer"},
		{Key: "odd", State: action.Unknown, Reason: "two say so"},
	}}
	err := p.Trouble()
	const want = "steps each[a].drain, each[b].drain cannot be checked: no nodetool for a, and the same for the others\n" +
		"steps each[a].restart, each[c].restart cannot be checked: no answer\n" +
		"step odd: Plimsoll cannot tell whether it is needed: two say so"
	var advised interface{ Hint() string }
	if err == nil || err.Error() != want || !errors.As(err, &advised) || advised.Hint() != "name its machine" {
		t.Errorf("got %v, %v", err, advised)
	}
	if err := (journal.Plan{Steps: p.Steps[:1]}).Trouble(); err != nil {
		t.Error(err)
	}
	q := journal.Plan{Steps: p.Steps[:2]}
	if (journal.Plan{Steps: []journal.PlanStep{p.Steps[0], {Key: "each[a].drain", Failed: true}}}).HashFor(journal.Header{}) != q.HashFor(journal.Header{}) {
		t.Error("the hash depends on what was advised")
	}
}
