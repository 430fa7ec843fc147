package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/series"
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

// What is known exactly refutes in a single round that nobody asked for, and then that is said first. It is not said where more rounds were
// measured, where a single round was asked for, which says its own, nor of a trial that could not run, whose verdict it does not decide.
func TestAFactOfOneRoundFailsAndSaysSo(t *testing.T) {
	const text = "\ntrial: t\ncluster: {engine: mariadb}\nload: {workload: oltp}\ntimeline: [{baseline: 5s}]\nexpect: [errors == 0, throughput > 1]\n"
	asked, three := spectest.Parse(t, text+"phases: {rounds: 1}\n", spec.Options{}), spectest.Parse(t, text, spec.Options{})
	unasked := &spec.Trial{Spec: spec.Spec{Phases: spec.Phases{Rounds: 1}}, Cells: asked.Cells, Expectations: asked.Expectations} // as a timeline on a target
	for name, c := range map[string]struct {
		trial  *spec.Trial
		rounds int
		cut    error
		want   analyze.Answer
		first  string // reason
	}{
		"nobody asked":           {unasked, 1, nil, analyze.Fail, judge.FactOfOneRound},
		"it was asked for":       {asked, 1, nil, analyze.Fail, judge.OneRound},
		"three rounds":           {three, 3, nil, analyze.Fail, "not met: errors == 0"},
		"interrupted in its 1st": {three, 1, context.Canceled, analyze.Fail, judge.FactOfOneRound},
		"interrupted in its 3rd": {three, 2, context.Canceled, analyze.Fail, "it was interrupted"},
		"it could not go on":     {three, 1, errors.New("the disk is full"), analyze.CouldNotRun, "could not run: the disk is full"},
		"asked, could not go on": {asked, 1, errors.New("the disk is full"), analyze.CouldNotRun, "could not run: the disk is full"},
	} {
		r := &runner{trial: c.trial}
		for round := range c.rounds {
			seconds := make([]analyze.Second, 5)
			seconds[2].Tally = series.Tally{Errors: 3}
			r.recording.Begin(judge.PhaseRecord{Round: round + 1, Phase: "baseline"}).All = seconds
		}
		v := conclusion(r, c.cut)
		if v.Verdict != c.want || len(v.Reasons) == 0 || v.Reasons[0] != c.first || v.FactOfOneRound != (c.first == judge.FactOfOneRound) {
			t.Errorf("%s: %s, a fact of one round %v, %q", name, v.Verdict, v.FactOfOneRound, v.Reasons)
		}
		if i := slices.IndexFunc(v.Claims, func(f analyze.JudgedClaim) bool { return f.Expect == "throughput > 1" }); v.FactOfOneRound && v.Claims[i].Verdict != analyze.Inconclusive {
			t.Errorf("%s: what is estimated is %s", name, v.Claims[i].Verdict)
		}
	}
}
