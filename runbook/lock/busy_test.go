package lock

import (
	"strings"
	"testing"
	"time"
)

// A run that a process executes is waited for; any other goes on by a command, also before its lock expires.
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
	} {
		c.is.Run, c.is.Until = "r1", time.Now()
		if got := c.is.Hint(); !strings.Contains(got, c.says) || strings.Contains(got, c.not) || strings.Contains(got, "--break-lock") != c.breaks {
			t.Errorf("%+v: %q", c.is, got)
		}
	}
}
