package rules

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/prometheustest"
)

// The rules that ship, and their tests, mean to Prometheus' own program what they mean here.
func TestPromtoolTakesTheShippedRules(t *testing.T) {
	promtool := prometheustest.Program(t, "promtool")
	files, err := filepath.Glob("shipped/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, append([]string{"check", "rules"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", "shipped/tests.yaml").CombinedOutput(); err != nil {
		t.Errorf("promtool test rules: %v: %s", err, out)
	}
}

// A test that fails there fails here: both read the file in the same way.
func TestPromtoolFailsWhatFailsHere(t *testing.T) {
	promtool := prometheustest.Program(t, "promtool")
	const down = "groups:\n- name: g\n  rules:\n  - alert: Down\n    expr: up == 0\n    for: 1m\n"
	for name, text := range map[string]struct{ rules, tests string }{
		"an alert that is not expected": {down, "  - {eval_time: 2m, alertname: Down}\n"},
		"an annotation that came out empty and is not expected": {down + "    annotations: {summary: it is down, inputs: '{{ if $value }}node=a{{ end }}'}\n",
			"  - {eval_time: 2m, alertname: Down, exp_alerts: [{exp_labels: {instance: a}, exp_annotations: {summary: it is down}}]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, "tests.yaml")
			tests := "rule_files: [rules.yml]\nevaluation_interval: 15s\ntests:\n- interval: 15s\n  input_series:\n  - {series: 'up{instance=\"a\"}', values: '0x20'}\n" +
				"  alert_rule_test:\n" + text.tests
			if err := errors.Join(os.WriteFile(filepath.Join(folder, "rules.yml"), []byte(text.rules), 0o600), os.WriteFile(file, []byte(tests), 0o600)); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "FAILED") {
				t.Errorf("promtool: %v: %s", err, out)
			}
			failures, _, err := Test(t.Context(), file)
			if err != nil || len(failures) != 1 {
				t.Errorf("here: %q, %v", failures, err)
			}
		})
	}
}
