package journal

import (
	"encoding/json"
	"testing"

	"plimsoll/durable"
)

// A claim that a run stored stays in a cluster that does not let it be removed, also where the session that ended the run could not reach the
// cluster; one that was never stored does not.
func TestAClaimOfAnEarlierSessionIsLeft(t *testing.T) {
	silent := map[string]string{"shop": "it does not answer"}
	for name, c := range map[string]struct {
		sessions []Event
		left     bool
	}{
		"stored, then out of reach": {[]Event{{Kind: Opened, Epochs: map[string]int64{"shop": 1}}, {Kind: Opened, Epochs: map[string]int64{"shop": 2}, Unclaimed: silent}}, true},
		"stored in its middle": {[]Event{
			{Kind: Opened, Epochs: map[string]int64{"shop": 1}, Unclaimed: map[string]string{"shop": "slow"}}, {Kind: Said, Cluster: "shop", Claimed: true},
			{Kind: Opened, Epochs: map[string]int64{"shop": 2}, Unclaimed: silent},
		}, true},
		"never stored": {[]Event{{Kind: Opened, Epochs: map[string]int64{"shop": 1}, Unclaimed: silent}}, false},
	} {
		st, err := Fold(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n, e := range append(c.sessions, Event{Kind: Said, Cluster: "shop", Claim: true}) {
			data, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			st = Clone(st)
			if err := st.Apply(durable.Entry{Number: n + 1, Data: data}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if LeavesClaim(st, "shop") != c.left {
			t.Errorf("%s: left is %v", name, !c.left)
		}
	}
}
