package cql

import (
	"context"
	"errors"
	"testing"

	"plimsoll/engine"
)

// n1 is the node that repairs.
const n1 = "10.0.0.1:9042"

// compared plays what it says of its repairs. Nobody else is to be asked.
type compared []engine.Repair

func (c compared) Repairs(_ context.Context, asked string) ([]engine.Repair, error) {
	if asked != n1 {
		return nil, errors.New("another node was asked: " + asked)
	}
	return c, nil
}

// unknowing is a node that has no tables of its repairs, as those of Cassandra 4.0 and ScyllaDB.
type unknowing struct{}

func (unknowing) Repairs(context.Context, string) ([]engine.Repair, error) {
	return nil, &engine.Error{Kind: engine.Missing, Text: "unconfigured table repairs"}
}

// The share of a repair counts each keyspace by its size and its ranges, no other repair, and never goes back.
func TestTheShareOfARepair(t *testing.T) {
	c := comparison{of: n1, before: map[string]bool{"old": true}, weight: map[string]int64{"big": 300, "small": 100}}
	old := engine.Repair{ID: "old", Keyspace: "big", Over: true, Ranges: 4, Done: 4}
	begun := engine.Repair{ID: "1", Keyspace: "small"}
	small := engine.Repair{ID: "1", Keyspace: "small", Over: true, Ranges: 2, Done: 1} // that failed is over too
	big := engine.Repair{ID: "2", Keyspace: "big", Ranges: 4, Done: 1}
	for i, one := range []struct {
		said compared
		want float64
	}{
		{compared{old}, -1}, {compared{old, begun}, -1}, {compared{old, small}, 0.25}, {compared{old, small, big}, 0.4375},
		{compared{small}, 0.4375},
	} {
		if got := c.share(t.Context(), one.said); got != one.want {
			t.Errorf("%d: %v, want %v", i, got, one.want)
		}
	}
	if got := (&comparison{of: n1}).share(t.Context(), unknowing{}); got != -1 {
		t.Errorf("of a node that tells nothing: %v", got)
	}
}
