package runbookcmd

import (
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/result"
)

// The workloads that may deadlock are those of MySQL and MariaDB whose transactions write.
func TestWorkloadsOfARehearsalThatTryAgain(t *testing.T) {
	for name, want := range map[string]bool{"tpcc": true, "oltp_read_write": true, "ycsb-a": false, "./mine.yaml": false} {
		if got := triesAgain(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A change that could not be made is told from one that was made and felt: no expectation was judged of it.
func TestWhyARehearsalFailed(t *testing.T) {
	const how = "the run of own/change failed at step add: no such table"
	for _, said := range []string{how, how + "."} {
		if got, want := whyFailed(result.Verdict{Verdict: analyze.Fail, ChangeFailed: said}), "The rehearsal failed: "+how+"."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := whyFailed(result.Verdict{Verdict: analyze.Fail}); !strings.Contains(got, "did not meet the trial's expectations") {
		t.Errorf("%q", got)
	}
}
