package runbookcmd

import "testing"

// The workloads that may deadlock are those of MySQL and MariaDB whose transactions write.
func TestWorkloadsOfARehearsalThatTryAgain(t *testing.T) {
	for name, want := range map[string]bool{"tpcc": true, "oltp_read_write": true, "ycsb-a": false, "./mine.yaml": false} {
		if got := triesAgain(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
