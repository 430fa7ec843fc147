package books

import (
	"slices"
	"testing"

	"plimsoll/runbook/action"
	"plimsoll/runbook/action/mysql"
)

func TestEveryShippedRunbookIsValidAndNamedAsItsFile(t *testing.T) {
	actions := slices.Concat(action.Generic(), action.Servers(), mysql.Actions())
	if len(Names()) == 0 {
		t.Fatal("none ship")
	}
	for _, name := range Names() {
		b, err := Read(name, actions)
		if err != nil {
			t.Error(err)
			continue
		}
		if b.Name != name || b.About == "" {
			t.Errorf("%s calls itself %q, about %q", name, b.Name, b.About)
		}
	}
}
