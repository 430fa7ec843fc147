package cql

import (
	"testing"
	"testing/synctest"
	"time"
)

// Connections by which nobody is reached for a while are replaced; an answer in between counts.
func TestConnectionsThatReachNobodyAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(connections)
		for n, step := range []struct {
			after    time.Duration
			reached  bool
			forsaken bool
		}{
			{0, false, false}, {forlorn, false, false}, {time.Second, true, false}, {time.Second, false, false},
			{forlorn, false, false}, {time.Millisecond, false, true},
		} {
			time.Sleep(step.after)
			if got := c.reached(step.reached); got != step.forsaken {
				t.Errorf("%d: forsaken: %v", n, got)
			}
		}
	})
}
