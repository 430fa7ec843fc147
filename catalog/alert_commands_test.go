package catalog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/hint"
	"plimsoll/runbook/books"
	"plimsoll/watch"
	"plimsoll/watch/rules"
	"plimsoll/watch/store"
)

// The command of a built-in rule gives every input that its runbook needs and none that it does not have. What only a person knows is marked,
// and refused for as long as it is not filled in.
func TestCommandsOfAlertsAreWhole(t *testing.T) {
	groups, err := rules.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	at := time.Now()
	onRDS := watch.Sample{Name: "plimsoll_rds", At: at, Value: 1, Labels: []watch.Label{{Name: "instance", Value: "b/n1"}}}
	if err := s.Append(t.Context(), []watch.Sample{onRDS}); err != nil {
		t.Fatal(err)
	}
	marked, none := 0, map[string]bool{}
	for _, g := range groups {
		for n := range 8 * len(g.Rules) { // on a server, and on RDS; with the value 1, and with 0, by which some choose; for either leg of an array
			r := g.Rules[n/8]
			var a watch.Alert
			for name, text := range map[string]*string{"runbook": &a.Runbook, "inputs": &a.Inputs, "do": &a.Do} {
				labels := map[string]string{"instance": []string{"a/n1", "b/n1"}[n%2], "array": "sd", "leg": []string{"local", "network"}[n/4%2]}
				if *text, err = s.Expand(t.Context(), r.Annotations[name], labels, float64(n/2%2), at); err != nil {
					t.Fatal(err)
				}
			}
			if n%2 == 1 && (slices.Contains(notOnRDS, a.Runbook) || strings.Contains(a.Do, "mysql/")) {
				t.Errorf("%s names %q on RDS and says %q: RDS lets nobody do that", r.Alert, a.Runbook, a.Do)
			}
			if a.Runbook == "" && a.Inputs == "" && slices.Contains(ofTheWatch, r.Alert) {
				continue
			}
			if a.Runbook == "" && a.Inputs == "" && n%2 == 1 {
				none[r.Alert+r.Expr] = true
				continue
			}
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
	if len(none) > 2 { // semi-sync twice
		t.Errorf("%d rules name no runbook on RDS", len(none))
	}
}

// ofTheWatch are alerts that no runbook answers: none gives the watch an account or root, or keeps a command running.
var ofTheWatch = []string{"LoginRefused", "LegRecordIsOld", "ArrayIsNotRead"}

// notOnRDS are the runbooks that need what RDS and Aurora give nobody: global variables, the replication's own statements, and servers that somebody starts.
var notOnRDS = []string{"mysql/set-variable", "mysql/failover", "mysql/switchover", "mysql/rejoin", "mysql/add-replica", "mysql/remove-replica", "mysql/rolling-restart", "mysql/external-replica", "mysql/multi-source"}
