package books

import (
	"slices"
	"testing"

	"plimsoll/action"
	"plimsoll/action/cql"
	"plimsoll/action/kube"
	"plimsoll/action/mysql"
	"plimsoll/action/rds"
	"plimsoll/action/singlestore"
	"plimsoll/action/superdisk"
	"plimsoll/action/volume"
)

func TestEveryShippedRunbookIsValidAndNamedAsItsFile(t *testing.T) {
	actions := slices.Concat(action.Generic(), action.Servers(), mysql.Actions(), cql.Actions(), singlestore.Actions(), superdisk.Actions(), volume.Actions(), rds.Actions(nil, rds.DefaultEvery), kube.Actions(kube.DefaultEvery))
	if len(Names()) == 0 {
		t.Fatal("none ship")
	}
	for _, name := range Names() {
		b, err := Read(name, actions)
		if err != nil {
			t.Error(err)
			continue
		}
		if b.Gate == nil {
			t.Errorf("%s says nothing of a gate: it would be refused in production", name)
		}
		if b.Name != name || b.About == "" {
			t.Errorf("%s calls itself %q, about %q", name, b.Name, b.About)
		}
	}
}
