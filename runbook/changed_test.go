package runbook

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
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

// tries executes a stint and returns with what it ended.
func (b *bench) tries(run string, o Order) error {
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
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(mixed)})
	if st := b.stintOf(run, Order{Do: "run"}); st.Outcome != Broken {
		t.Fatalf("outcome %q", st.Outcome)
	}
	acts := len(b.events(run, Intended))
	b.put("mended", "")
	b.upgrade("command", 9)
	for _, o := range []Order{{Do: "resume"}, {Do: "rerun", Step: "a", Reason: "x"}, {Do: "cancel", Undo: true}} {
		var changed *ChangedError
		err := b.tries(run, o)
		if !errors.As(err, &changed) || !strings.Contains(err.Error(), "command was version 1 and is version 9 in this release") || !strings.Contains(changed.Hint(), "--changed-actions REASON") {
			t.Errorf("%s: %v", o.Do, err)
		}
		if st := b.stateOf(run); !st.Parked || !strings.Contains(st.Why, "command was version 1") || len(b.events(run, Intended)) != acts {
			t.Errorf("%s: %q %q", o.Do, st.Status(), st.Why)
		}
	}
	st := b.stintOf(run, Order{Do: "resume", Changed: "the notes of release 9 say that it is safe"})
	if opened := b.events(run, Opened); st.Outcome != Done || st.Versions["command"] != 9 || opened[len(opened)-1].Versions["command"] != 9 {
		t.Errorf("outcome %q, versions %v", st.Outcome, st.Versions)
	}
	e, err := b.Evidence(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	p, err := VerifyEvidence(e.text(t))
	if said := p.Changed(); err != nil || len(said) != 1 || said[0].Order.By != "ann" || !strings.Contains(said[0].Order.Changed, "it is safe") || !strings.Contains(said[0].Reason, "command was version 1 and is version 9") {
		t.Errorf("the evidence tells of %+v, %v", said, err)
	}
}

func TestOtherVersionsOfWhatIsOverOrIsGivenUpAreNoConcern(t *testing.T) {
	for name, c := range map[string]struct {
		action string
		order  Order
		want   Outcome
	}{
		"its steps are over":  {"wait", Order{Do: "resume", Changed: "for nothing"}, Done},
		"the run is given up": {"command", Order{Do: "cancel", Leave: "it is of no use"}, Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			run := b.begin(Request{Book: b.parse(mixed)})
			b.stintOf(run, Order{Do: "run"})
			b.put("mended", "")
			b.upgrade(c.action, 9)
			if st := b.stintOf(run, c.order); st.Outcome != c.want || st.Orders[len(st.Orders)-1].Changed != "" {
				t.Errorf("outcome %q, %+v", st.Outcome, st.Orders)
			}
		})
	}
}

// TestARunWhoseActionIsGoneIsReadAndGivenUp has a release without an action that a run which failed uses.
func TestARunWhoseActionIsGoneIsReadAndGivenUp(t *testing.T) {
	b := newBench(t)
	run := b.begin(Request{Book: b.parse("guardrails:\n  - {name: load, when: db.load > 10, for: 0s}\n" + mixed)})
	b.Meter = func(*cluster.Cluster) Meter { return &dial{load: 1} }
	if st := b.stintOf(run, Order{Do: "run"}); st.Outcome != Broken {
		t.Fatalf("outcome %q", st.Outcome)
	}
	b.upgrade("command", 0)
	st := b.stateOf(run)
	if st.Outcome != Broken || len(st.Items) != 2 || st.Item("a").Phase != Dead {
		t.Errorf("it reads as %q, %+v", st.Outcome, st.Items)
	}
	for _, o := range []Order{{Do: "resume"}, {Do: "rerun", Step: "a", Reason: "x"}, {Do: "cancel", Undo: true}} {
		var unfit *UnfitError
		if err := b.tries(run, o); !errors.As(err, &unfit) || !strings.Contains(err.Error(), `unknown action "command"`) || !strings.Contains(unfit.Hint(), "plimsoll runbook cancel RUN --leave REASON") {
			t.Errorf("%s: %v", o.Do, err)
		}
	}
	if _, err := b.Evidence(t.Context(), run); err != nil {
		t.Error(err)
	}
	if st := b.stintOf(run, Order{Do: "cancel", Leave: "we upgraded"}); st.Outcome != Cancelled {
		t.Errorf("it cannot be given up: %q %q", st.Outcome, st.Why)
	}
	if lease, err := b.Store.Lease(t.Context(), "cluster lab1"); err != nil || lease.Holder != "" {
		t.Errorf("the cluster is held by %q, %v", lease.Holder, err)
	}
}
