package watch

import (
	"slices"
	"testing"
)

// Callers stand by load, then by name; without a host there is no @.
func TestCallersStandByLoad(t *testing.T) {
	all := []Caller{{User: "cron", AAS: 1}, {User: "app", Host: "b", AAS: 1}, {User: "app", Host: "a", AAS: 1}, {User: "report", Host: "10.0.4.1", AAS: 3}}
	slices.SortFunc(all, Caller.Compare)
	var names []string
	for _, c := range all {
		names = append(names, c.String())
	}
	if want := []string{"report@10.0.4.1", "app@a", "app@b", "cron"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
