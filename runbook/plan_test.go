package runbook

import (
	"errors"
	"testing"

	"plimsoll/action"
)

// A rolling group that is refused for one reason says it once, with what to do.
func TestWhatKeepsARunFromBeginningIsSaidOnce(t *testing.T) {
	p := Plan{Steps: []PlanStep{
		{Key: "whole"},
		{Key: "each[a].drain", Failed: true, Reason: "no nodetool for a", Advice: "name its machine"},
		{Key: "each[a].restart", Failed: true, Reason: "no answer"},
		{Key: "each[b].drain", Failed: true, Reason: "no nodetool for b", Advice: "name its machine"},
		{Key: "odd", State: action.Unknown, Reason: "two say so"},
	}}
	err := p.Trouble()
	const want = "steps each[a].drain, each[b].drain cannot be checked: no nodetool for a, and the like of the others\n" +
		"step each[a].restart cannot be checked: no answer\n" +
		"step odd: it cannot be told whether it is needed: two say so"
	var advised interface{ Hint() string }
	if err == nil || err.Error() != want || !errors.As(err, &advised) || advised.Hint() != "name its machine" {
		t.Errorf("got %v, %v", err, advised)
	}
	if err := (Plan{Steps: p.Steps[:1]}).Trouble(); err != nil {
		t.Error(err)
	}
	q := Plan{Steps: p.Steps[:2]}
	if (Plan{Steps: []PlanStep{p.Steps[0], {Key: "each[a].drain", Failed: true}}}).hash(Header{}) != q.hash(Header{}) {
		t.Error("the hash depends on what was advised")
	}
}
