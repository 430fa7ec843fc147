package replication

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/hint"
)

// A replica that does not answer may have more than the one that is picked: a person is asked, and the output says so.
func TestAReplicaThatDoesNotAnswerIsNotPassedOverInSilence(t *testing.T) {
	replica := func(id string) *standIn {
		s := following(engine.Source{Address: "n1:3306", Applies: true, Automatic: true})
		s.is.ServerID = id
		s.answers = func(statement string) (string, error) {
			if strings.Contains(statement, "gtid_executed") {
				return "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5", nil
			}
			return "1", nil
		}
		return s
	}
	for name, c := range map[string]struct {
		n3    *standIn
		asks  bool
		wants string
	}{
		"all answer":       {replica("3"), false, ""},
		"one is not there": {&standIn{silent: gone}, true, "n3 does not answer and may have transactions that n2 lacks"},
	} {
		t.Run(name, func(t *testing.T) {
			on := standIns{"n1": {silent: gone}, "n2": replica("2"), "n3": c.n3}.cluster(t)
			p := &pickReplica{Of: "n1", Prefer: "n2"}
			found, err := p.Check(t.Context(), on.ReadOnly())
			if err != nil || !strings.Contains(found.Reason, c.wants) {
				t.Fatalf("found %+v, %v, want that it says %q", found, err, c.wants)
			}
			if reason := p.ApprovalReason(found); strings.Contains(reason, "n3") != c.asks || !c.asks && reason != "" {
				t.Errorf("a person is asked %q", reason)
			}
			out, err := p.Act(t.Context(), on, action.Call{})
			if err != nil || out["node"] != "n2" || !strings.Contains(out["may be lost"].(string), c.wants) {
				t.Errorf("output %v, %v, want n2 and that it says %q", out, err, c.wants)
			}
			if next, _ := out[action.Next].(string); !strings.Contains(next, "plimsoll runbook run mysql/rejoin --cluster "+on.Name+" -i node=n1 makes it a replica") || out[action.NextFor] != "n1" {
				t.Errorf("what comes next: %q", next)
			}
		})
	}
}

// A server that refuses the account answers.
func TestAServerThatRefusesTheAccountIsNotSaidNotToAnswer(t *testing.T) {
	t.Parallel()
	denied := &engine.Error{Kind: engine.Denied, Code: "1227", Text: "Access denied; you need SLAVE MONITOR"}
	on := standIns{"n1": {silent: denied}, "n2": {silent: gone}}.cluster(t)
	all, err := ask(t.Context(), on)
	if err != nil || all[0].silence() != "refuses the account of Plimsoll" || all[1].silence() != "does not answer" {
		t.Errorf("%+v, %v", all, err)
	}
}

// Where Plimsoll cannot copy the data of a donor, the plan says so: nothing is stopped for it.
func TestADonorThatCannotBeCopiedIsRefusedInThePlan(t *testing.T) {
	n2 := following(engine.Source{Address: "n1:3306", Receives: true, Applies: true, Automatic: true})
	on := standIns{"n1": following(), "n2": n2, "n4": following()}.cluster(t)
	if found, err := (&pickDonorTask{For: "n4"}).Check(t.Context(), on.ReadOnly()); err != nil || found.Observed["donor"] != "n2" {
		t.Fatalf("%+v, %v", found, err)
	}
	var refused *hint.PermanentError
	_, err := (&pickDonorTask{For: "n4", Copy: true}).Check(t.Context(), on.ReadOnly())
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "Plimsoll does not know where the data of n4 is") || !strings.Contains(refused.Advice, "plimsoll runbook plan mysql/rejoin --cluster stand-ins -i node=n4") {
		t.Errorf("%v: %+v", err, refused)
	}
	if _, err := (&pickDonorTask{For: "n4", Copy: true}).Act(t.Context(), on, action.Call{}); !errors.As(err, &refused) {
		t.Errorf("act: %v", err)
	}
}
