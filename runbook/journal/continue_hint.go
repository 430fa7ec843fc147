package journal

import "fmt"

// ContinueHint says how a run that has not ended goes on, as commands to type.
func (s *State) ContinueHint(run string) string {
	if s.Past {
		return fmt.Sprintf("check the cluster, end this run with plimsoll runbook cancel %s --leave REASON, and plan the change again", run)
	}
	return fmt.Sprintf("plimsoll runbook resume %[1]s continues it, plimsoll runbook cancel %[1]s ends it", run)
}
