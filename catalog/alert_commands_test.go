package catalog

import (
	"strings"
	"testing"

	"plimsoll/hint"
	"plimsoll/runbook/books"
	"plimsoll/watch"
	"plimsoll/watch/rules"
)

// The command of a built-in rule gives every input that its runbook needs and none that it does not have. What only a person knows is marked,
// and refused for as long as it is not filled in.
func TestCommandsOfAlertsAreWhole(t *testing.T) {
	groups, err := rules.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, g := range groups {
		for _, r := range g.Rules {
			a := watch.Alert{Runbook: r.Annotations["runbook"], Inputs: strings.ReplaceAll(r.Annotations["inputs"], `{{ reReplaceAll "^.*/" "" $labels.instance }}`, "n1")}
			if a.Trial() != "" {
				if a.Inputs != "" {
					t.Errorf("%s gives inputs to a trial", r.Alert)
				}
				continue
			}
			book, err := books.Read(a.Runbook, Actions())
			if err != nil {
				t.Fatal(err)
			}
			given, filled, open := map[string]string{}, map[string]string{}, false
			for _, one := range a.Given() {
				name, value, _ := strings.Cut(one, "=")
				given[name], filled[name] = value, value
				if value == hint.FillIn {
					open, filled[name] = true, "1"
				}
			}
			if _, err := book.Resolve(filled); err != nil {
				t.Errorf("%s: %s, given %q: %v", r.Alert, a.Runbook, a.Inputs, err)
			}
			if _, err := book.Resolve(given); open != (err != nil) || open && !strings.Contains(err.Error(), hint.FillIn+" stands for the value that you give") {
				t.Errorf("%s: %v", r.Alert, err)
			}
			if open {
				marked++
			}
		}
	}
	if marked == 0 {
		t.Error("no rule leaves anything to a person")
	}
}
