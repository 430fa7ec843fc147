package series

import "testing"

// A signal's name says its unit to all who write its values: the pages, the claims, JSON and comparisons.
func TestASignalsNameSaysItsUnit(t *testing.T) {
	for signal, want := range map[string][2]string{
		"mysql.row_lock_wait_ms_per_second": {"mysql.row_lock_wait", "ms_per_second"},
		"mysql.redo_bytes_per_second":       {"mysql.redo", "bytes_per_second"},
		"mysql.commits_per_second":          {"mysql.commits", "per_second"},
		"mysql.replica_lag_seconds.n1":      {"mysql.replica_lag.n1", "seconds"},
		"mysql.threads_running":             {"mysql.threads_running", ""},
	} {
		if name, unit := SignalUnit(signal); [2]string{name, unit} != want {
			t.Errorf("%s: %q in %q, want %q", signal, name, unit, want)
		}
	}
}
