package runbookcmd

import (
	"strings"
	"testing"

	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// A step that does not wait for approval is answered with those that do, be it one or several.
func TestStepsThatWaitForApprovalAreNamed(t *testing.T) {
	asking := func(keys ...string) *journal.State {
		st := &journal.State{}
		for _, key := range keys {
			st.Items = append(st.Items, &journal.Step{Key: key, Step: &runbook.Step{ID: key}, Phase: journal.StepAsking})
		}
		return st
	}
	for want, st := range map[string]*journal.State{"; a does": asking("a"), "; a, b do": asking("a", "b")} {
		if _, err := askedBy(st, "r1", "approve", "c"); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
