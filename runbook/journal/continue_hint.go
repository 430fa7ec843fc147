package journal

import (
	"fmt"
	"regexp"

	"plimsoll/hint"
)

// ContinueHint says how a run that has not ended goes on, as commands to type.
func (s *State) ContinueHint(run string) string {
	if s.Past {
		return fmt.Sprintf("check the cluster, end this run with plimsoll runbook cancel %s --leave REASON, and plan the change again", run)
	}
	return fmt.Sprintf("plimsoll runbook resume %[1]s continues it, plimsoll runbook cancel %[1]s ends it", run)
}

var unnamed = regexp.MustCompile(`(plimsoll runbook [a-z]+) RUN\b`)

// OfRun puts the name of a run into the commands that a text advises about it: an action does not know of which run it is a step.
func OfRun(text, run string) string { return unnamed.ReplaceAllString(text, "${1} "+run) }

// RefusalOf is an error about a run, with its name in what it advises.
func RefusalOf(err error, run string) error {
	if advice := hint.Of(err); advice != "" {
		return hint.With(err, OfRun(advice, run))
	}
	return err
}
