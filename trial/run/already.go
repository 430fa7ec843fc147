package run

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/runbook/journal"
	"plimsoll/trial/spec"
)

// tellNotExecuted says which steps of a run were so already before it began, and refuses a trial in which nothing of the change was
// executed: what it measured is a cluster to which nothing was done.
func tellNotExecuted(r *runner, call spec.Call, st *journal.State) {
	keys := st.AlreadySo()
	if len(keys) == 0 || st.Outcome != journal.RunDone {
		return
	}
	said := fmt.Sprintf("%s: already done before the run of %s, so not executed", strings.Join(keys, ", "), call.Name())
	if !st.ActedWithEngine() {
		r.invalidate("%s: the trial says nothing about the change", said)
		r.unchanged = true
		return
	}
	if !slices.Contains(r.already, said) {
		r.already = append(r.already, said)
	}
}
