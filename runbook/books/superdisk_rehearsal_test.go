package books_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/cql"
	"plimsoll/action/mysql"
	"plimsoll/action/superdisk"
	"plimsoll/action/volume"
	"plimsoll/runbook/books"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// Disks, volumes, mount points and arrays are places: a rehearsal with those of a lab's machine, or of another node, counts for a run with this one's.
// What a person lets a run do, such as whose deleted rows may come back, is none.
func TestRehearsalsOfSuperDisksCountForOtherDisks(t *testing.T) {
	actions := slices.Concat(action.Generic(), action.Servers(), mysql.Actions(), cql.Actions(), superdisk.Actions(), volume.Actions())
	seen := 0
	for _, name := range books.Names() {
		if !strings.HasPrefix(name, "superdisk/") {
			continue
		}
		book, err := books.Read(name, actions)
		if err != nil {
			t.Fatal(err)
		}
		there, here := journal.Rehearsal{Inputs: map[string]any{}}, journal.Header{Inputs: map[string]any{}}
		for input, in := range book.Inputs {
			there.Inputs[input], here.Inputs[input] = in.Default, in.Default
			if slices.Contains([]string{"local", "network", "mount", "uuid", "array"}, input) {
				there.Inputs[input], here.Inputs[input] = "lab-"+input, "vol-0abc-"+input
				seen++
			}
		}
		if why, alike := plan.OtherInputs(book, there, here); why != "" || len(alike) == 0 {
			t.Errorf("%s: a rehearsal with other disks %s, alike in %q", name, why, alike)
		}
		if _, is := book.Inputs["accept_resurrection"]; is {
			here.Inputs["accept_resurrection"] = "shop"
			if why, _ := plan.OtherInputs(book, there, here); why == "" {
				t.Errorf("%s: a rehearsal without rows that may come back counts for a run with them", name)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d inputs were seen", seen)
	}
}
