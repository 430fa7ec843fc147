package journal

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/hint"
)

// While no run has begun, nobody is told to resume or to cancel one.
func TestAPlanAdvisesNothingAboutARun(t *testing.T) {
	const again = "plimsoll runbook plan own.yaml --cluster ring -i address=10.0.0.1"
	for advice, want := range map[string]string{
		"fix one of them, then plimsoll runbook resume RUN": "fix one of them, then " + again,
		"the ring's data is safe. If the node has been started, plimsoll runbook cancel RUN --undo removes it again. Correct its data centre":                                                             "the ring's data is safe. Correct its data centre",
		"if n2 is the primary now, do not continue (plimsoll runbook cancel RUN --leave REASON ends this run): mysql/rejoin helps. If not, make n2 read-only; plimsoll runbook resume RUN then continues": "if n2 is the primary now, do not continue: mysql/rejoin helps. If not, make n2 read-only; " + again + " then continues",
		"make that machine reachable, then plimsoll runbook resume RUN; or plimsoll runbook cancel RUN, and start a new one":                                                                              "make that machine reachable, then " + again,
		"fix the cause": "fix the cause",
		"start it again; then plimsoll runbook resume RUN, or plimsoll runbook cancel RUN --undo":                                           "start it again; then " + again,
		"fix it, then plimsoll runbook resume RUN. plimsoll runbook cancel RUN ends it. plimsoll runbook cancel RUN --undo undoes it. Wait": "fix it, then " + again + ". Wait",
	} {
		err := PlanRefusal(hint.With(errors.New("it cannot be done"), advice), again)
		if got := hint.Of(err); got != want {
			t.Errorf("%q\nis   %q\nwant %q", advice, got, want)
		}
		if text := hint.Of(err); strings.Contains(text, "RUN") {
			t.Errorf("%q names a run", text)
		}
	}
}
