package replication

import (
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// The last replica that answers may have what no other node has: nobody can compare them, and a person is asked before it goes.
func TestTheLastServerThatAnswersIsNotTakenOutUnasked(t *testing.T) {
	const has = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"
	answers := func(string) (string, error) { return has, nil }
	n2 := following(engine.Source{Address: "n1:3306", ServerID: "1"})
	n2.answers = answers
	for name, c := range map[string]struct {
		n1   *standIn
		asks string
	}{
		"the primary does not answer": {&standIn{silent: gone}, "no other node that could be compared answers: n2 may have transactions, or all the data,"},
		"the primary has all":         {&standIn{is: engine.ReplicationStatus{ServerID: "1"}, answers: answers}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			site := standIns{"n1": c.n1, "n2": n2}.cluster(t)
			site.Replication = &cluster.Account{User: "repl"}
			d := &detach{Node: "n2"}
			found, err := d.Check(t.Context(), site)
			if reason := d.ApprovalReason(found); err != nil || (reason == "") != (c.asks == "") || !strings.Contains(reason, c.asks) {
				t.Errorf("%+v, %v: asks %q, want %q", found, err, reason, c.asks)
			}
		})
	}
}
