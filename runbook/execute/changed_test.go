package execute

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook/journal"
)

// upgrade gives the service a release in which an action is of another version; 0: it is gone.
func (b *bench) upgrade(name string, version int) {
	var all []action.Action
	for _, a := range action.Generic() {
		if a.Name == name {
			a.Version = version
		}
		if a.Version != 0 {
			all = append(all, a)
		}
	}
	b.Actions = all
}

// tries executes a session and returns with what it ended.
func (b *bench) tries(run string, o journal.Command) error {
	b.t.Helper()
	e, err := b.Execute(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.Start(b.t.Context(), e, run, o); err != nil {
		b.t.Fatal(err)
	}
	err = e.Wait(b.t.Context(), run)
	if err := e.Close(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return err
}

// mixed has a step of another action after one that fails until it is mended.
const mixed = `
runbook: test/mixed
steps:
  - {id: look, uses: wait, with: {run: "echo yes", want: "yes"}}
  - {id: a, uses: command, with: {run: "test -e DIR/mended && touch DIR/a", check: "test -e DIR/a", undo: "rm -f DIR/a", repeatable: true}}
`

func TestARunGoesOnWithOtherVersionsOfItsActionsOnlyIfAPersonSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(mixed)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed {
		t.Fatalf("outcome %q", st.Outcome)
	}
	acts := len(b.events(run, journal.Intended))
	b.put("mended", "")
	b.upgrade("command", 9)
	for _, o := range []journal.Command{{Do: "resume"}, {Do: "rerun", Step: "a", Reason: "x"}, {Do: "cancel", Undo: true}} {
		var changed *journal.ChangedError
		err := b.tries(run, o)
		if !errors.As(err, &changed) || !strings.Contains(err.Error(), "command was version 1 and is version 9 in this release") || !strings.Contains(changed.Hint(), "--changed-actions REASON") {
			t.Errorf("%s: %v", o.Do, err)
		}
		if st := b.stateOf(run); !st.Parked || !strings.Contains(st.Why, "command was version 1") || len(b.events(run, journal.Intended)) != acts {
			t.Errorf("%s: %q %q", o.Do, st.Status(), st.Why)
		}
	}
	st := b.runSession(run, journal.Command{Do: "resume", Changed: "the notes of release 9 say that it is safe"})
	if opened := b.events(run, journal.Opened); st.Outcome != journal.RunDone || st.Versions["command"] != 9 || opened[len(opened)-1].Versions["command"] != 9 {
		t.Errorf("outcome %q, versions %v", st.Outcome, st.Versions)
	}
	e, err := b.Evidence(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	p, err := journal.VerifyEvidence(textEvidence(t, e))
	if said := p.Changed(); err != nil || len(said) != 1 || said[0].Order.By != "ann" || !strings.Contains(said[0].Order.Changed, "it is safe") || !strings.Contains(said[0].Reason, "command was version 1 and is version 9") {
		t.Errorf("the evidence tells of %+v, %v", said, err)
	}
}

func TestOtherVersionsOfWhatIsOverOrIsGivenUpAreNoConcern(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action string
		order  journal.Command
		want   journal.Outcome
	}{
		"its steps are over":  {"wait", journal.Command{Do: "resume", Changed: "for nothing"}, journal.RunDone},
		"the run is given up": {"command", journal.Command{Do: "cancel", Leave: "it is of no use"}, journal.RunCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			run := b.begin(Request{Book: b.parse(mixed)})
			b.runSession(run, journal.Command{Do: "run"})
			b.put("mended", "")
			b.upgrade(c.action, 9)
			if st := b.runSession(run, c.order); st.Outcome != c.want || st.Orders[len(st.Orders)-1].Changed != "" {
				t.Errorf("outcome %q, %+v", st.Outcome, st.Orders)
			}
		})
	}
}

// TestARunWhoseActionIsGoneIsReadAndGivenUp has a release without an action that a run which failed uses.
func TestARunWhoseActionIsGoneIsReadAndGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse("guardrails:\n  - {name: load, when: db.load > 10, for: 0s}\n" + mixed)})
	b.Meter = func(*cluster.Cluster) Meter { return &dial{load: 1} }
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed {
		t.Fatalf("outcome %q", st.Outcome)
	}
	b.upgrade("command", 0)
	st := b.stateOf(run)
	if st.Outcome != journal.RunFailed || len(st.Items) != 2 || st.Item("a").Phase != journal.StepFailed {
		t.Errorf("it reads as %q, %+v", st.Outcome, st.Items)
	}
	for _, o := range []journal.Command{{Do: "resume"}, {Do: "rerun", Step: "a", Reason: "x"}, {Do: "cancel", Undo: true}} {
		var unfit *journal.UnfitError
		if err := b.tries(run, o); !errors.As(err, &unfit) || !strings.Contains(err.Error(), `unknown action "command"`) || !strings.Contains(unfit.Hint(), "plimsoll runbook cancel RUN --leave REASON") {
			t.Errorf("%s: %v", o.Do, err)
		}
	}
	if _, err := b.Evidence(t.Context(), run); err != nil {
		t.Error(err)
	}
	if st := b.runSession(run, journal.Command{Do: "cancel", Leave: "we upgraded"}); st.Outcome != journal.RunCancelled {
		t.Errorf("it cannot be given up: %q %q", st.Outcome, st.Why)
	}
	if lease, err := b.Store.Lease(t.Context(), "cluster lab1"); err != nil || lease.Holder != "" {
		t.Errorf("the cluster is held by %q, %v", lease.Holder, err)
	}
}
