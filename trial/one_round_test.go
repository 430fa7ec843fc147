package trial

import (
	"strings"
	"testing"

	"plimsoll/analyze"
)

// A single round decides only where the trial asks for it, and then that is said first.
func TestASingleRoundIsAskedFor(t *testing.T) {
	const text = "\ntrial: t\ncluster: {engine: mariadb}\nload: {workload: oltp}\ntimeline: [{baseline: 5s}]\nexpect: [errors == 0]\n"
	if tr := parse(t, text, Options{}); tr.Phases.Rounds != 3 || !tr.options().Agreement {
		t.Errorf("unasked: %d rounds, which must agree: %v", tr.Phases.Rounds, tr.options().Agreement)
	}
	asked := parse(t, text+"phases: {rounds: 1}\n", Options{})
	if asked.Phases.Rounds != 1 || asked.options().Agreement {
		t.Errorf("asked: %d rounds, which must agree: %v", asked.Phases.Rounds, asked.options().Agreement)
	}
	for _, tr := range []*Trial{asked, {Spec: Spec{Phases: Phases{Rounds: 1}}, cells: asked.cells, expectations: asked.expectations}} {
		r := &runner{trial: tr}
		s := r.recording.begin(phaseRecord{round: 1, phase: "baseline"})
		s.all = make([]analyze.Second, 5)
		v := r.conclude(nil)
		if said := len(v.Reasons) > 0 && v.Reasons[0] == oneRound; tr.oneRound != said || tr.oneRound != v.OneRound || tr.oneRound != (v.Verdict == analyze.Pass) {
			t.Errorf("asked for one round %v: %s, one round %v, %q", tr.oneRound, v.Verdict, v.OneRound, v.Reasons)
		}
		if !tr.oneRound && !strings.Contains(v.Claims[0].Needs, "rounds: 1 asks to be judged by one") {
			t.Errorf("needs %q", v.Claims[0].Needs)
		}
	}
}
