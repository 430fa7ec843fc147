package cql

import "testing"

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		wrote, shown string
		same         bool
	}{
		{"10s", "10000ms", true}, {"10s", "10001ms", false}, {"1m", "60s", true}, {"128MiB", "131072KiB", true}, {"64MiB/s", "65536KiB/s", true},
		{"1m", "1MiB", false}, {"16", "16", true}, {"0.5", "0.50", true}, {"true", "TRUE", true}, {"16", "8", false},
		{"'lab'", "lab", true}, {`"lab"`, "lab", true}, {"200MiB/s", "24MiB/s", false}, {"", "", true}, {"1d", "24h", true},
		{"SimpleSnitch", "simplesnitch", true}, {"10", "10s", false}, {"999999999999999999d", "1s", false},
	} {
		if got := sameValue(c.wrote, c.shown); got != c.same {
			t.Errorf("%s and %s: %v", c.wrote, c.shown, got)
		}
	}
}
