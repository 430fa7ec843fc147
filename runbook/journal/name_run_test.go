package journal

import "testing"

func TestAdviceNamesTheRun(t *testing.T) {
	for advice, want := range map[string]string{
		"fix it, then plimsoll runbook resume RUN":                       "fix it, then plimsoll runbook resume move-a1",
		"plimsoll runbook cancel RUN --leave REASON; or wait":            "plimsoll runbook cancel move-a1 --leave REASON; or wait",
		"the server says THREAD RUNNING, and its log COULD NOT RUN IT":   "the server says THREAD RUNNING, and its log COULD NOT RUN IT",
		"plimsoll runbook plan FILE, then plimsoll runbook undo RUNBOOK": "plimsoll runbook plan FILE, then plimsoll runbook undo RUNBOOK",
	} {
		if got := NameRun(advice, "move-a1"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
