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

// The channel that needs a person most stands first, and the instance's own list stays as it was.
func TestTheWorstChannelStandsFirst(t *testing.T) {
	lag := func(seconds float64) *float64 { return &seconds }
	i := Instance{Channels: []Channel{{Name: "new"}, {Name: "main", Lag: lag(0)}, {Name: "far", Connecting: true}, {Name: "ext", Lag: lag(12)}, {Name: "dead", Stopped: true}}}
	var names []string
	for _, c := range i.WorstChannels() {
		names = append(names, c.Name)
	}
	if want := []string{"dead", "far", "ext", "main", "new"}; !slices.Equal(names, want) || i.Channels[0].Name != "new" {
		t.Errorf("%q, want %q", names, want)
	}
}
