package runbookcmd

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/action"
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
