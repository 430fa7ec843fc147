package replication

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/hint"
)

// A plan of a promotion refuses what its act would: a server of several sources. The sources are called as they are, one of them by no name.
func TestAPlanRefusesThePromotionOfAServerOfSeveralSources(t *testing.T) {
	answers := func(statement string) (string, error) {
		if strings.Contains(strings.ToLower(statement), "gtid_executed") {
			return "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-7", nil
		}
		return "1", nil
	}
	on := standIns{
		"n1": {silent: gone},
		"n2": {is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true, Sources: []engine.Source{{Address: "n1:3306"}, {Channel: "ext", Address: "n4:3306"}}}, answers: answers},
	}.cluster(t)
	const want = "n2 replicates from n1:3306 on the default channel and from n4:3306 on channel ext"
	p := &promote{Node: "n2"}
	var refused *hint.PermanentError
	if _, err := p.Check(t.Context(), on); !errors.As(err, &refused) || refused.Reason != want {
		t.Errorf("check: %v", err)
	}
	if _, err := p.Act(t.Context(), on, action.Call{Progress: func(float64, string) {}}); !errors.As(err, &refused) || refused.Reason != want {
		t.Errorf("act: %v", err)
	}
}
