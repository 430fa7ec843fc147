package execute

import (
	"strings"
	"testing"

	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

func TestInProductionSomebodyElseApproves(t *testing.T) {
	t.Parallel()
	approved := &journal.Step{Key: "go", Step: &runbook.Step{Approval: &runbook.Approval{}}}
	for _, c := range []struct {
		who       string
		approvers runbook.Approvers
		own       bool // the runbook's own not_requester
		want      string
	}{
		{"ann@laptop", runbook.ByOther, false, "another person must approve"},
		{"ann@jump", runbook.ByOther, false, "another person must approve"}, // the same person from another host
		{"bob@laptop", runbook.ByOther, false, ""},
		{"ann@laptop", runbook.ByAnyone, false, ""},
		{"ann@laptop", "", false, ""}, // a lab
		{"ann@laptop", "", true, "must be approved by another person"},
	} {
		st := &journal.State{Header: journal.Header{By: "ann@laptop", Approvers: c.approvers}}
		approved.Step.Approval.NotRequester = c.own
		err := st.MayApprove(approved, journal.Message{By: c.who, Known: "a test"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		h := hint.Of(journal.RefusalOf(err, "run-1"))
		if err != nil && !strings.Contains(h, "plimsoll runbook approve run-1") {
			t.Errorf("%+v: the hint %q is no command that can be typed", c, h)
		}
		if err != nil && (!strings.Contains(h, "the role approve") || !strings.Contains(h, "ann@laptop starts plimsoll serve --web-config FILE")) {
			t.Errorf("%+v: the hint %q does not say which page, and as whom", c, h)
		}
	}
}

func TestWhoCountsAsAnotherPersonIsKnown(t *testing.T) {
	t.Parallel()
	two := &journal.Step{Key: "go", Step: &runbook.Step{Approval: &runbook.Approval{Count: 2}}, Approved: []string{"bob@laptop"}}
	st := &journal.State{Header: journal.Header{By: "ann@laptop", Environment: "staging"}}
	for _, c := range []struct {
		who, known, want string
	}{
		{"bob@other", "account", "bob@other has approved step go before"}, // unshare -u; hostname other
		{"bob", "login", "bob has approved"},
		{"eve@laptop", "", "eve@laptop is not a known account"},
		{"eve@laptop", "account", ""},
	} {
		if err := st.MayApprove(two, journal.Message{By: c.who, Known: c.known}); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := st.MayApprove(&journal.Step{Key: "go", Step: &runbook.Step{Approval: &runbook.Approval{Count: 1}}}, journal.Message{By: "eve"}); err != nil {
		t.Errorf("one whom nobody counts: %v", err)
	}
}

func TestAnApprovalByWhoBeganTheRunIsNotTakenInProduction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(`
runbook: test/asks
gate: {none: a test}
steps: [{id: go, approval: {note: "Go on?"}}]
`)
	for _, c := range []struct {
		cluster   string
		approvers runbook.Approvers
		taken     bool
	}{{"lab1", "", true}, {"prod1", "", false}, {"prod1", runbook.ByAnyone, true}} {
		b.Rules.Approvers = c.approvers
		run := b.begin(Request{Book: book, Cluster: c.cluster})
		e := b.started(run, journal.Command{Do: "run"})
		b.until(run, func(st *journal.State) bool { return st.Status() == "asking" })
		approve := func(who string) {
			t.Helper()
			b.User = who
			if err := b.Tell(t.Context(), run, journal.Message{Say: "approve", Plan: b.stateOf(run).Header.Plan.Hash}); err != nil {
				t.Fatal(err)
			}
			b.User = "ann"
		}
		approve("ann")
		if !c.taken { // it goes on asking: somebody else answers
			approve("bob")
		}
		if err := e.Wait(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "ann"
		if !c.taken {
			want = "bob"
		}
		if st := b.stateOf(run); st.Outcome != journal.RunDone || st.Items[0].Approved[0] != want {
			t.Errorf("%+v: %s, approved by %v", c, st.Status(), st.Items[0].Approved)
		}
	}
}
