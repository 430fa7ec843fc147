package lock

import (
	"strings"
	"testing"
	"time"
)

// A run that a process executes is waited for; any other goes on by a command, also before its lock expires.
// Of a run whose process has died nobody is told that it is running.
func TestARunThatNoProcessExecutesIsNotSaidToRun(t *testing.T) {
	for want, e := range map[string]BusyError{
		": running": {Cluster: "c", Run: "r1", Status: "running", Executed: true}, "stopped, no process": {Cluster: "c", Run: "r1", Status: "running"},
		": failed": {Cluster: "c", Run: "r1", Status: "failed"},
	} {
		if got := e.Error(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOnlyARunThatIsExecutedIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		is     BusyError
		says   string
		not    string
		breaks bool
	}{
		{BusyError{Executed: true}, "wait until it ends", "runbook resume", false},
		{BusyError{Status: "failed"}, "plimsoll runbook resume r1", "wait", false},
		{BusyError{Idle: true}, "plimsoll runbook resume r1", "wait", true},
		{BusyError{Status: "parked", Past: true}, "plimsoll runbook cancel r1 --leave REASON", "resume", false},
	} {
		c.is.Run, c.is.Until = "r1", time.Now()
		if got := c.is.Hint(); !strings.Contains(got, c.says) || strings.Contains(got, c.not) || strings.Contains(got, "--break-lock") != c.breaks {
			t.Errorf("%+v: %q", c.is, got)
		}
	}
}
