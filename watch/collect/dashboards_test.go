package collect

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
)

// dashboardNames are the series that the dashboards for Grafana name, those whose name begins so.
func dashboardNames(t *testing.T, file, prefix string) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/dashboards/grafana/" + file)
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	var names []string
	for _, one := range files {
		text, err := os.ReadFile(one)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Panels []struct{ Targets []struct{ Expr string } }
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				for _, name := range regexp.MustCompile(`\b`+prefix+`_[a-z0-9_]+`).FindAllString(target.Expr, -1) {
					if !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("%s names no series that begins with %s", file, prefix)
	}
	return names
}

// Every series that a dashboard or a rule that ships names is one that something here writes.
func TestDashboardsAndRulesNameSeriesThatAreWritten(t *testing.T) {
	written := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "names.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`"((?:plimsoll|cassandra|aws|mysql)_[a-z0-9_]+)"`).FindAllSubmatch(text, -1) {
			written[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range written {
		if _, can := watch.Writes(name); !can && !strings.HasSuffix(name, "_") { // what guardrails may name
			t.Errorf("%s is written, and not among the names that a watch writes", name)
		}
	}
	for _, name := range watch.Names() {
		if !strings.HasSuffix(name, "*") && !written[name] && name != "up" {
			t.Errorf("%s is among the names that a watch writes, and nothing writes it", name)
		}
	}
	var status watch.Reading
	values := map[string]float64{"connection_errors_max_connections": 1, "innodb_checkpoint_age": 1, "innodb_checkpoint_max_age": 1}
	for _, name := range everySecond {
		values[strings.ToLower(name)] = 1
	}
	addStatus(&status, time.Now(), values)
	for _, s := range status.Samples {
		written[s.Name] = true
	}
	named := func(text string) []string {
		return regexp.MustCompile(`\b(?:plimsoll|cassandra|aws|mysql)_[a-z0-9_]+`).FindAllString(text, -1)
	}
	for _, prefix := range []string{"plimsoll", "mysql", "cassandra", "aws"} {
		for _, name := range dashboardNames(t, "*.json", prefix) {
			if !written[name] && !strings.HasPrefix(name, "mysql_global_variables_") {
				t.Errorf("a dashboard names %s, which nothing writes", name)
			}
		}
	}
	rules, err := filepath.Glob("../rules/shipped/*.yml")
	if err != nil || len(rules) == 0 {
		t.Fatal(err)
	}
	for _, file := range rules {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if expr, is := strings.CutPrefix(strings.TrimSpace(line), "expr:"); is {
				for _, name := range named(expr) {
					if !written[name] && !strings.HasPrefix(name, "mysql_global_variables_") && !strings.HasPrefix(name, "mysql_global_status_rpl_semi_sync_") {
						t.Errorf("%s names %s, which nothing writes", filepath.Base(file), name)
					}
				}
			}
		}
	}
}
