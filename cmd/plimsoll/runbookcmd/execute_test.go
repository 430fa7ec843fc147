package runbookcmd

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// A run whose cluster another had meanwhile never goes on: the hint offers what works, and nothing that is refused again. One that waits
// for another is told how it goes on.
func TestARunThatLostItsClusterIsNotToldToGoOn(t *testing.T) {
	lost := sessionError{"switchover-a1b2c3", fmt.Errorf("park: %w", &action.ClaimedError{Cluster: "orders"})}
	if got := lost.Hint(); !strings.Contains(got, "plimsoll runbook cancel switchover-a1b2c3 --leave REASON") || strings.Contains(got, "resume") {
		t.Errorf("a run that lost its cluster: %q", got)
	}
	waits := sessionError{"switchover-a1b2c3", &action.ClaimedError{Cluster: "orders", Run: "failover-d4e5f6", Holder: "eve@laptop"}}
	if got := waits.Hint(); !strings.Contains(got, "plimsoll runbook resume switchover-a1b2c3") {
		t.Errorf("a run that waits: %q", got)
	}
}

// A run whose cluster has not stored its claim is shown so until it ends.
func TestAStatusSaysThatARunIsNotClaimed(t *testing.T) {
	st := &journal.State{Book: &runbook.Runbook{}, Unclaimed: map[string]string{"orders": "no answer in time"}}
	if s := statusOf("r", st, journal.Summary{}); s.Unclaimed["orders"] == "" {
		t.Errorf("%+v", s)
	}
	st.Outcome = journal.RunDone
	if s := statusOf("r", st, journal.Summary{}); s.Unclaimed != nil {
		t.Errorf("it has ended: %+v", s)
	}
}

// A step that was cut off in its middle says how far it came.
func TestAStatusSaysHowFarAStepCame(t *testing.T) {
	for want, s := range map[string]stepStatus{
		"2 of 3":                {Reached: "2 of 3"},
		"drops a table; 2 of 3": {Reached: "2 of 3", Note: "drops a table"},
		"interrupted (2 of 3)":  {Reached: "2 of 3", Error: "interrupted (2 of 3)"},
		"waits for somebody":    {Note: "waits for somebody"},
	} {
		if got := s.words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
