package cql

import (
	"strings"
	"testing"
)

func TestALastCopyIsNotGivenUp(t *testing.T) {
	all := []keyspace{
		{"lonely", map[string]int{"dc1": 1}}, {"simple", map[string]int{"": 1}}, {"pair", map[string]int{"dc1": 2}},
		{"far", map[string]int{"dc1": 1, "dc2": 1}}, {"plimsoll", map[string]int{"dc1": 1}},
	}
	for accepted, want := range map[string]string{"": "lonely, simple", "simple": "lonely", " lonely, simple": ""} {
		err := lastCopies(all, "n3", accepted)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "n3 had the only replica of a part of "+want+",") {
			t.Errorf("accepted %q: %v, want %q", accepted, err, want)
		}
	}
}
