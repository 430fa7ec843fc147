package run

import (
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/trial/judge"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

// A single round decides only where the trial asks for it, and then that is said first.
func TestASingleRoundIsAskedFor(t *testing.T) {
	const text = "\ntrial: t\ncluster: {engine: mariadb}\nload: {workload: oltp}\ntimeline: [{baseline: 5s}]\nexpect: [errors == 0]\n"
	if tr := spectest.Parse(t, text, spec.Options{}); tr.Phases.Rounds != 3 || !tr.Options().Agreement {
		t.Errorf("unasked: %d rounds, which must agree: %v", tr.Phases.Rounds, tr.Options().Agreement)
	}
	asked := spectest.Parse(t, text+"phases: {rounds: 1}\n", spec.Options{})
	if asked.Phases.Rounds != 1 || asked.Options().Agreement {
		t.Errorf("asked: %d rounds, which must agree: %v", asked.Phases.Rounds, asked.Options().Agreement)
	}
	for _, tr := range []*spec.Trial{asked, {Spec: spec.Spec{Phases: spec.Phases{Rounds: 1}}, Cells: asked.Cells, Expectations: asked.Expectations}} {
		r := &runner{trial: tr}
		s := r.recording.Begin(judge.PhaseRecord{Round: 1, Phase: "baseline"})
		s.All = make([]analyze.Second, 5)
		v := conclusion(r, nil)
		if said := len(v.Reasons) > 0 && v.Reasons[0] == judge.OneRound; tr.OneRound != said || tr.OneRound != v.OneRound || tr.OneRound != (v.Verdict == analyze.Pass) {
			t.Errorf("asked for one round %v: %s, one round %v, %q", tr.OneRound, v.Verdict, v.OneRound, v.Reasons)
		}
		if !tr.OneRound && !strings.Contains(v.Claims[0].Needs, "an explicit rounds: 1 allows a verdict from one") {
			t.Errorf("needs %q", v.Claims[0].Needs)
		}
	}
}
