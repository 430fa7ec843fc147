package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/runbook/journal"
	"plimsoll/trial/judge"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/result"
	"plimsoll/runbook"
)

// What a trial could not do is neither an answer to its question nor a bad measurement, and nobody interrupted it: it says what was
// missing, where, and what to do.
func TestOwnErrorsCouldNotRun(t *testing.T) {
	tr := spectest.Parse(t, "\ntrial: t\ncluster: {engine: mariadb}\nload: {workload: oltp}\ntimeline: [{baseline: 5s}, {run: lab/freeze}]\nexpect: [errors == 0]\n", spec.Options{})
	call := tr.Cells[0].Timeline[1].Call
	locked := hint.With(errors.New("the cluster shop is locked by run 7f"), "plimsoll runbook status 7f")
	dead := func(cause journal.Cause) *journal.State {
		step := &journal.Step{Key: "set", Step: &runbook.Step{ID: "set"}, Phase: journal.StepFailed, Error: "value is a mapping, expected a text", Cause: cause}
		return &journal.State{Outcome: journal.RunFailed, Items: []*journal.Step{step}}
	}
	for what, c := range map[string]struct {
		cut  error
		halt error
		want analyze.Answer
		how  result.How
		why  string
		do   string
	}{
		"a lock":            {halt: refusedBy(t.Context(), tr, *call, locked), want: analyze.CouldNotRun, how: result.CouldNotRun, why: "lab/freeze: the cluster shop is locked by run 7f", do: "plimsoll runbook status 7f"},
		"a template":        {halt: endedBadly(tr, *call, dead(journal.BadInputs), "r1"), want: analyze.CouldNotRun, how: result.CouldNotRun, why: "step set: value is a mapping, expected a text"},
		"no such metric":    {halt: endedBadly(tr, *call, &journal.State{Outcome: journal.RunFailed, Cause: journal.NoMetrics, Why: "guardrail lag: no data"}, "r1"), want: analyze.CouldNotRun, how: result.CouldNotRun, why: "guardrail lag: no data"},
		"a change failed":   {halt: endedBadly(tr, *call, dead(""), "r1"), want: analyze.Fail},
		"a server died":     {cut: fmt.Errorf("cell %q: %w", "a", errors.New("start server: its disk is full")), want: analyze.CouldNotRun, how: result.CouldNotRun, why: "its disk is full"},
		"a person stops it": {cut: context.Canceled, want: analyze.Inconclusive, how: result.Interrupted},
	} {
		r := &runner{trial: tr, records: records{at: "round 2, lab/freeze"}}
		if c.halt != nil && !errors.As(c.halt, &r.aborted) {
			t.Fatalf("%s: %v", what, c.halt)
		}
		r.recording.Begin(judge.PhaseRecord{Round: 1, Phase: "baseline"}).All = make([]analyze.Second, 5)
		v := conclusion(r, c.cut)
		all := strings.Join(v.Reasons, "\n")
		if v.Verdict != c.want || !v.Partial || (v.Ended == nil) != (c.how == "") {
			t.Errorf("%s: %s, ended %+v, %q", what, v.Verdict, v.Ended, v.Reasons)
			continue
		}
		if failed := v.ChangeFailed; (c.want == analyze.Fail) != (failed == "the run of lab/freeze failed at step set: value is a mapping, expected a text") {
			t.Errorf("%s: the change failed: %q", what, failed)
		}
		if v.Ended != nil && (v.Ended.How != c.how || v.Ended.Where != "round 2, lab/freeze" || !strings.Contains(v.Ended.Why, c.why) || v.Ended.Do != c.do) {
			t.Errorf("%s: %+v", what, *v.Ended)
		}
		if c.how == result.CouldNotRun && (!strings.Contains(all, "could not run in round 2, lab/freeze: ") || strings.Contains(all, "interrupted")) {
			t.Errorf("%s: %q", what, v.Reasons)
		}
		if nothing, want := learnedNothing(v), map[result.How]string{result.CouldNotRun: "its trial could not run", result.Interrupted: "its trial was interrupted"}[c.how]; nothing != want {
			t.Errorf("%s: a rehearsal says %q, want %q", what, nothing, want)
		}
	}
}

// A run of a trial was on servers that end with it: what its steps advise about it is said of the trial.
func TestATrialAdvisesNothingAboutItsRun(t *testing.T) {
	tr := spectest.Parse(t, "\ntrial: t\ncluster: {engine: mariadb}\nload: {workload: oltp}\ntimeline: [{baseline: 5s}, {run: lab/freeze}]\n", spec.Options{})
	call := *tr.Cells[0].Timeline[1].Call
	step := &journal.Step{Key: "set", Step: &runbook.Step{ID: "set"}, Phase: journal.StepFailed, Cause: journal.BadInputs, Advice: "fix it, then plimsoll runbook resume freeze-a1b2c3"}
	const want = "fix it, then plimsoll trial run trial.yaml"
	if h := endedBadly(tr, call, &journal.State{Outcome: journal.RunFailed, Items: []*journal.Step{step}}, "freeze-a1b2c3"); h.advice != want {
		t.Errorf("%q", h.advice)
	}
	var h *abort
	if err := refusedBy(t.Context(), tr, call, hint.With(errors.New("no"), "fix it, then plimsoll runbook resume RUN")); !errors.As(err, &h) || h.advice != want {
		t.Errorf("%v: %q", err, h.advice)
	}
}

// A run says at which step it failed, whatever became of it then.
func TestHowARunEnded(t *testing.T) {
	failed := []*journal.Step{{Key: "add", Phase: journal.StepFailed, Error: "no such table"}}
	for _, c := range []struct {
		st   journal.State
		want string
	}{
		{journal.State{Outcome: journal.RunFailed, Items: failed}, "failed at step add: no such table"},
		{journal.State{Outcome: journal.RunUndone, Items: failed}, "failed at step add and was undone: no such table"},
		{journal.State{Outcome: journal.RunCancelled, Items: failed}, "failed at step add and was cancelled: no such table"},
		{journal.State{Outcome: journal.RunFailed, Why: "guardrail lag: no data"}, "failed: guardrail lag: no data"},
		{journal.State{Outcome: journal.RunUndone, Why: "on_failure"}, "was undone: on_failure"},
		{journal.State{Outcome: journal.RunCancelled}, "was cancelled"},
	} {
		if got := howEnded(&c.st); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
