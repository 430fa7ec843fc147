package cql

import (
	"context"
	"testing"

	"plimsoll/engine"
)

// compared plays what a node says of its repairs.
type compared []engine.Repair

func (c compared) Repairs(context.Context) ([]engine.Repair, error) { return c, nil }
func (c compared) Sizes(context.Context) (map[string]map[string]int64, error) {
	return nil, nil
}

// The share of a repair counts each keyspace by its size and its ranges, no other repair, and never goes back.
func TestTheShareOfARepair(t *testing.T) {
	c := comparison{before: map[string]bool{"old": true}, weight: map[string]int64{"big": 300, "small": 100}}
	const n1 = "10.0.0.1:9042"
	old := engine.Repair{Node: n1, ID: "old", Keyspace: "big", Over: true, Ranges: 4, Done: 4}
	others := engine.Repair{Node: "10.0.0.2:9042", ID: "x", Keyspace: "big", Ranges: 4, Done: 4}
	begun := engine.Repair{Node: n1, ID: "1", Keyspace: "small"}
	small := engine.Repair{Node: n1, ID: "1", Keyspace: "small", Over: true, Ranges: 2, Done: 1} // that failed is over too
	big := engine.Repair{Node: n1, ID: "2", Keyspace: "big", Ranges: 4, Done: 1}
	for i, one := range []struct {
		said compared
		want float64
	}{
		{compared{old, others}, -1}, {compared{old, others, begun}, -1}, {compared{old, small}, 0.25}, {compared{old, others, small, big}, 0.4375},
		{compared{small}, 0.4375},
	} {
		if got := c.share(t.Context(), one.said, "10.0.0.1"); got != one.want {
			t.Errorf("%d: %v, want %v", i, got, one.want)
		}
	}
}
