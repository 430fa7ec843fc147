package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/watch"
	"plimsoll/watch/rules"
)

// TestEveryExampleIsValid reads each trial in each form in which its page tells to run it, and each runbook beside one.
func TestEveryExampleIsValid(t *testing.T) {
	if apart(t) {
		return
	}
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	trials := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		text := "\n" + string(data)
		var forms [][]string
		switch {
		case strings.Contains(text, "\nrunbook: "):
			forms = [][]string{{"runbook", "validate", file}}
		case strings.Contains(text, "\ntrial: "):
			trials++
			forms = [][]string{{"trial", "validate", file}, {"trial", "validate", file, "--quick"}}
			if strings.Contains(text, "engine: mariadb") {
				forms = append(forms, []string{"trial", "validate", file, "--quick", "--set", "cluster.engine=mysql"})
			}
		}
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			t.Chdir(filepath.Dir(file)) // where one has its plimsoll.yaml
			// The form of a trial is what is looked at, alike on every machine: a MySQL that was fetched there would refuse settings that
			// are MariaDB's alone.
			t.Setenv("PLIMSOLL_CACHE", t.TempDir())
			for _, args := range forms {
				if out, said, code := typed(t, args...); code != 0 || !strings.Contains(out, "valid") {
					t.Errorf("%v: %d %s%s", args, code, out, said)
				}
			}
		})
	}
	if trials < 15 {
		t.Errorf("only %d trials were found", trials)
	}
}

// The trial that an alert names runs as it is printed, wherever the person and the program are: here neither is beside the examples.
func TestTrialsOfAlertsAreFoundAnywhere(t *testing.T) {
	if apart(t) {
		return
	}
	groups, err := rules.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("PLIMSOLL_CACHE", t.TempDir())
	seen := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rules {
			alert := watch.Alert{Runbook: r.Annotations["runbook"]}
			if alert.Trial() == "" || seen[alert.Trial()] {
				continue
			}
			seen[alert.Trial()] = true
			words := strings.Fields(alert.Command()) // plimsoll trial run FILE
			words[2] = "validate"
			if out, said, code := typed(t, words[1:]...); code != 0 || !strings.Contains(out, "valid") {
				t.Errorf("%s: %v: %d %s%s", r.Alert, words, code, out, said)
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d trials of alerts were found", len(seen))
	}
	if _, said, code := typed(t, "trial", "validate", "examples/demo/none.yaml"); code == 0 || !strings.Contains(said, "examples/demo/none.yaml") {
		t.Errorf("an example that there is not: %d %s", code, said)
	}
}
