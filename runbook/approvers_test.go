package runbook

import (
	"strings"
	"testing"
)

func TestInProductionSomebodyElseApproves(t *testing.T) {
	approved := &Item{Step: &Step{Approval: &Approval{}}}
	for _, c := range []struct {
		who       string
		approvers Approvers
		own       bool // the runbook's own not_requester
		want      string
	}{
		{"ann@laptop", ByOther, false, "somebody else approves"},
		{"ann@jump", ByOther, false, "somebody else approves"}, // the same person from another host
		{"bob@laptop", ByOther, false, ""},
		{"ann@laptop", ByAnyone, false, ""},
		{"ann@laptop", "", false, ""}, // a lab
		{"ann@laptop", "", true, "must be approved by somebody else"},
	} {
		st := &State{Header: Header{By: "ann@laptop", Approvers: c.approvers}}
		approved.Step.Approval.NotRequester = c.own
		err := st.MayApprove(approved, Word{By: c.who, Known: "a test"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestWhoCountsAsAnotherPersonIsKnown(t *testing.T) {
	two := &Item{Key: "go", Step: &Step{Approval: &Approval{Count: 2}}, Approved: []string{"bob@laptop"}}
	st := &State{Header: Header{By: "ann@laptop", Environment: "staging"}}
	for _, c := range []struct {
		who, known, want string
	}{
		{"bob@other", "account", "bob@other has approved step go before"}, // unshare -u; hostname other
		{"bob", "login", "bob has approved"},
		{"eve@laptop", "", "it is not known who eve@laptop is"},
		{"eve@laptop", "account", ""},
	} {
		if err := st.MayApprove(two, Word{By: c.who, Known: c.known}); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := st.MayApprove(&Item{Key: "go", Step: &Step{Approval: &Approval{Count: 1}}}, Word{By: "eve"}); err != nil {
		t.Errorf("one whom nobody counts: %v", err)
	}
}

func TestAnApprovalByWhoBeganTheRunIsNotTakenInProduction(t *testing.T) {
	b := newBench(t)
	book := b.parse(`
runbook: test/asks
gate: {none: a test}
steps: [{id: go, approval: {note: "Go on?"}}]
`)
	for _, c := range []struct {
		cluster   string
		approvers Approvers
		taken     bool
	}{{"lab1", "", true}, {"prod1", "", false}, {"prod1", ByAnyone, true}} {
		b.Rules.Approvers = c.approvers
		run := b.begin(Request{Book: book, Cluster: c.cluster})
		e := b.started(run, Order{Do: "run"})
		b.until(run, func(st *State) bool { return st.Status() == "asking" })
		approve := func(who string) {
			t.Helper()
			b.User = who
			if err := b.Tell(t.Context(), run, Word{Say: "approve", Plan: b.stateOf(run).Header.Plan.Hash}); err != nil {
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
		if st := b.stateOf(run); st.Outcome != Done || st.Items[0].Approved[0] != want {
			t.Errorf("%+v: %s, approved by %v", c, st.Status(), st.Items[0].Approved)
		}
	}
}
