package books

import (
	"slices"
	"testing"

	"plimsoll/runbook/action"
	"plimsoll/runbook/action/cql"
	"plimsoll/runbook/action/mysql"
	"plimsoll/runbook/action/singlestore"
)

func TestEveryShippedRunbookIsValidAndNamedAsItsFile(t *testing.T) {
	actions := slices.Concat(action.Generic(), action.Servers(), mysql.Actions(), cql.Actions(), singlestore.Actions())
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
