package spec

import (
	"time"

	"plimsoll/internal/document"
)

// Step is one entry of a timeline: a period, or a change that runs while the load goes on.
type Step struct {
	Phase  string        // the phase it makes: baseline, wait, recovery, measure, or the name of what is run
	Length time.Duration // of a period
	Call   *Call         // of a change
}

// periods are the steps that are nothing but time.
var periods = []string{"baseline", "wait", "recovery"}

// ownPhases are names that a change cannot be given: the phases that a trial has of itself.
var ownPhases = append([]string{"warmup", "measure"}, periods...)

// UnmarshalDocument reads {baseline: 60s}, {wait: 10s}, {recovery: 60s} or {run: NAME, with: {…}}.
func (s *Step) UnmarshalDocument(n *document.Node) error {
	if n.Kind != document.Mapping || len(n.Entries) == 0 {
		return n.Errorf("%s, expected a step such as baseline: 60s or run: lab/restart", n.Kind)
	}
	if n.Get("run") != nil {
		call, err := readCall(n)
		s.Phase, s.Call = call.Change, &call
		return err
	}
	first := n.Entries[0]
	for _, name := range periods {
		if first.Key != name {
			continue
		}
		d, err := document.Duration(first.Value)
		if err != nil {
			return err
		}
		if d == 0 {
			return first.Value.Errorf("a step without a duration")
		}
		if len(n.Entries) > 1 {
			return document.UnknownKey(n.Entries[1], nil)
		}
		s.Phase, s.Length = name, d
		return nil
	}
	p := document.UnknownKey(first, append([]string{"run"}, periods...))
	if first.Key == "uses" {
		p.Hint = `did you mean "run"? uses belongs in the steps of a runbook`
	}
	return p
}

// Prepare is what is done to a cluster before the load begins, in order.
type Prepare []Call

// UnmarshalDocument reads a name, a {run, with} or a list of them.
func (p *Prepare) UnmarshalDocument(n *document.Node) error {
	items := []*document.Node{n}
	if n.Kind == document.Sequence {
		items = n.Items
	}
	var ps document.Problems
	for _, item := range items {
		call, err := readCall(item)
		ps.Add(item, err)
		*p = append(*p, call)
	}
	return ps.Err()
}
