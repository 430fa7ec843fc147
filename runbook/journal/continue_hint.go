package journal

import (
	"fmt"
	"regexp"
	"strings"

	"plimsoll/hint"
)

// ContinueHint says how a run that has not ended goes on, as commands to type.
func (s *State) ContinueHint(run string) string {
	if s.Past {
		return fmt.Sprintf("check the cluster, end this run with plimsoll runbook cancel %s --leave REASON, and plan the change again", run)
	}
	return fmt.Sprintf("plimsoll runbook resume %[1]s continues it, plimsoll runbook cancel %[1]s ends it, or says why it cannot", run)
}

var unnamed = regexp.MustCompile(`(plimsoll runbook [a-z]+) RUN\b`)

// OfRun puts the name of a run into the commands that a text advises about it: an action does not know of which run it is a step.
func OfRun(text, run string) string { return unnamed.ReplaceAllString(text, "${1} "+run) }

// Before a run there is nothing to resume or to end: what an action advises about its run is said of the plan instead.
var (
	resumed   = regexp.MustCompile(`plimsoll runbook (?:resume|rerun) RUN(?: -[a-z-]+(?: [A-Z]+)?)*`)
	orElse    = regexp.MustCompile(`, or plimsoll runbook [a-z]+ RUN(?: -[a-z-]+(?: [A-Z]+)?)*([.;]|$)`)
	aside     = regexp.MustCompile(` \([^()]*plimsoll runbook [a-z]+ RUN[^()]*\)`)
	sentenced = regexp.MustCompile(`(^|[.;] )[^.;]*plimsoll runbook [a-z]+ RUN\b[^.;]*([.;]|$)`)
)

// OfPlan is what an action advises, as it is said while no run has begun: again is the command that plans once more, and what is said of
// ending or undoing a run is left out.
func OfPlan(text, again string) string {
	const planAgain = "\x00" // in place of the command, which may have dots: they end no sentence
	text = aside.ReplaceAllString(text, "")
	text = orElse.ReplaceAllString(text, "$1")
	text = resumed.ReplaceAllLiteralString(text, planAgain)
	for before := ""; before != text; { // a sentence begins with the end of the one before, which may be left out with it
		before = text
		text = sentenced.ReplaceAllStringFunc(text, func(s string) string {
			if at := strings.IndexByte(s, ' '); (s[0] == '.' || s[0] == ';') && at == 1 {
				return s[:1]
			}
			return ""
		})
	}
	text = strings.TrimRight(strings.TrimSpace(text), ";")
	return strings.ReplaceAll(text, planAgain, again)
}

// PlanRefusal is an error of a plan, with advice that can be followed before a run has begun.
func PlanRefusal(err error, again string) error {
	if advice := hint.Of(err); advice != "" {
		return hint.With(err, OfPlan(advice, again))
	}
	return err
}

// RefusalOf is an error about a run, with its name in what it advises.
func RefusalOf(err error, run string) error {
	if advice := hint.Of(err); advice != "" {
		return hint.With(err, OfRun(advice, run))
	}
	return err
}
