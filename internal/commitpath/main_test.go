package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
)

// writeResult writes what is read of a result folder.
func writeResult(t *testing.T, name string, cells ...result.Cell) string {
	t.Helper()
	dir := t.TempDir()
	for file, content := range map[string]any{
		"verdict.json": result.Verdict{Trial: name, Verdict: analyze.Pass, Cells: cells},
		"environment.json": result.Environment{
			Started: time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC), Command: []string{"plimsoll", "trial", "run", "--quick"},
			Engine: map[string]string{"product": "MariaDB", "version": "11.4.5"}, Host: map[string]string{"cores": "2", "filesystem": "ext4"},
		},
		"trial.yaml":   "",
		"events.jsonl": struct{}{},
	} {
		data, err := json.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func figure(metric string, value float64) result.Figure {
	return result.Figure{Metric: metric, Estimate: analyze.Estimate{Value: value, Low: value, High: value, Confidence: 1}}
}

func TestTheTableIsWrittenIntoThePage(t *testing.T) {
	faster := figure("throughput", 2000)
	faster.Ratio = &analyze.Estimate{Value: 2, Low: 1.5, High: 2.5}
	speed := writeResult(t, "commit-path",
		result.Cell{Variant: "flush 1 sync 1", Control: true, Figures: []result.Figure{figure("throughput", 1000), figure("response_p99", 12.5)}},
		result.Cell{Variant: "flush 2 no binlog", Figures: []result.Figure{faster, figure("response_p99", 3)}})
	power := writeResult(t, "commit-path-durability",
		result.Cell{Variant: "flush 1 sync 1", Writes: &result.Writes{Acknowledged: 5000}, Figures: []result.Figure{figure("lost_writes", 0)}},
		result.Cell{Variant: "flush 2 no binlog", Writes: &result.Writes{Acknowledged: 9000}, Figures: []result.Figure{figure("lost_writes", 933), figure("recovery_point", 810)}})

	page := filepath.Join(t.TempDir(), "page.md")
	const before, after = "# Page\n\n<!-- results of MariaDB -->\nold\n<!-- end -->\n", "<!-- results of MySQL -->\nkept\n<!-- end -->\n"
	if err := os.WriteFile(page, []byte(before+after), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{speed, power}, page); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	for _, want := range []string{
		"MariaDB 11.4.5; 2 cores, ext4; commit-path on 2026-05-04, quick form; commit-path-durability on 2026-05-04, quick form.",
		"| flush 1 sync 1 | 1,000 |  | 12.5 ms |  |  | 0 of 5,000 | none | nothing |",
		"| flush 2 no binlog | 2,000 | ×2.00 | 3.00 ms |  |  | **933** of 9,000 | 810 ms | power failure: up to a second |",
		after,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Error("the old table is still there")
	}
	if err := run([]string{writeResult(t, "demo")}, page); err == nil || !strings.Contains(err.Error(), "demo") {
		t.Errorf("a result of another trial: %v", err)
	}
}

// Every way to commit that is compared has its words.
func TestEveryVariantSaysWhatItMayLose(t *testing.T) {
	for _, file := range []string{"trial", "crash", "durability"} {
		text, err := os.ReadFile("../../examples/commit-path/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		variants := 0
		for line := range strings.Lines(string(text)) {
			name, _, found := strings.Cut(strings.TrimSpace(line), ": {config:")
			if !found || !strings.HasPrefix(name, "flush ") {
				continue
			}
			variants++
			if safe := name == "flush 1 sync 1" || name == "flush 1 no binlog"; (window(name) == "nothing") != safe {
				t.Errorf("%s: %s", name, window(name))
			}
		}
		if variants != 12 {
			t.Errorf("%s.yaml: %d variants", file, variants)
		}
	}
}
