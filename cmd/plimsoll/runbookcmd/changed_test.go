package runbookcmd

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

func TestActionsThatChangedAreShownForEver(t *testing.T) {
	o := journal.Command{Do: "resume", By: "ann", Changed: "the notes say that it is safe"}
	line := strings.Join(describe(journal.Event{Kind: journal.Opened, Order: &o, Reason: "command was version 1 and is version 2 in this release"}), " ")
	if want := "to resume by ann ACTIONS CHANGED, CONTINUES: the notes say that it is safe: command was version 1 and is version 2 in this release"; line != want {
		t.Errorf("history: %s", line)
	}
	s := statusOf("r", &journal.State{Orders: []journal.Command{{Do: "run"}, o}, Book: &runbook.Runbook{Unfit: errors.New(`unknown action "gone"`)}}, journal.Summary{})
	if len(s.Changed) != 1 || s.Changed[0] != o.Changed || !strings.Contains(s.Unfit, `unknown action "gone"`) {
		t.Errorf("status: %+v", s)
	}
}
