package replication

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/engine"
)

// A replica that does not answer may have more than the one that is picked: a person is asked, and the output says so.
func TestAReplicaThatDoesNotAnswerIsNotPassedOverInSilence(t *testing.T) {
	replica := func() *standIn {
		s := following(engine.Source{Address: "n1:3306", Applies: true, Automatic: true})
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
		"all answer":       {replica(), false, ""},
		"one is not there": {&standIn{silent: gone}, true, "n3 does not answer and may have transactions that n2 lacks"},
	} {
		t.Run(name, func(t *testing.T) {
			on := standIns{"n1": {silent: gone}, "n2": replica(), "n3": c.n3}.cluster(t)
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
