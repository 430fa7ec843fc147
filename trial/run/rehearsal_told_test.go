package run

import (
	"testing"

	"plimsoll/runbook/journal"
)

// Rehearsals of one runbook are told apart by what they were given, and by nothing else.
func TestRehearsalsAreToldApartByTheirInputs(t *testing.T) {
	of := func(name, algorithm string) rehearsed {
		return rehearsed{name: name, Rehearsal: journal.Rehearsal{Inputs: map[string]any{"table": "shop.orders", "algorithm": algorithm}}}
	}
	all := []rehearsed{of("mysql/alter-table", "COPY"), of("mysql/alter-table", "INSTANT"), of("own/other", "online")}
	for i, want := range []string{"algorithm=COPY", "algorithm=INSTANT", ""} {
		if got := all[i].apartFrom(all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
