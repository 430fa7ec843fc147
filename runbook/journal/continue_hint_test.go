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

// A runbook that an action advises is a command that can be typed.
func TestARunbookThatIsAdvisedIsAWholeCommand(t *testing.T) {
	for advice, want := range map[string]string{
		"mysql/rejoin then makes the others replicate":                  "plimsoll runbook plan mysql/rejoin --cluster shop then makes the others replicate",
		"replace it (cql/replace-node), or cql/repair is next.":         "replace it (plimsoll runbook plan cql/replace-node --cluster shop), or plimsoll runbook plan cql/repair --cluster shop is next.",
		"plimsoll runbook run kube/pause --cluster shop":                "plimsoll runbook run kube/pause --cluster shop",
		"change the file, then run kube/rolling-restart":                "change the file, then plimsoll runbook plan kube/rolling-restart --cluster shop",
		"plimsoll superdisk status shows those it has":                  "plimsoll superdisk status shop shows those it has",
		"plimsoll runbook run rds/set-parameter changes it":             "plimsoll runbook run rds/set-parameter --cluster shop changes it",
		"the files are in /var/lib/mysql/data and rds/external-replica": "the files are in /var/lib/mysql/data and plimsoll runbook plan rds/external-replica --cluster shop",
	} {
		if got := OnCluster(advice, "shop"); got != want {
			t.Errorf("%q\nis   %q\nwant %q", advice, got, want)
		}
	}
}
