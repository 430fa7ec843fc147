package foresee

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/catalog"
	"plimsoll/trial/spec"
)

// A command whose file is not there keeps a trial from its load, in the timeline, in what prepares it, and in a runbook of its own; only what an
// earlier command may make is a note.
func TestAFileOfACommandThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"there.sh":    "exit 0\n",
		"change.yaml": "runbook: own/change\nsteps: [{id: a, uses: command, with: {run: ./nosuch.sh}}]\n",
		"maybe.yaml":  "runbook: own/maybe\nsteps: [{id: a, uses: command, if: \"1 == 2\", with: {run: ./nosuch.sh}}]\n",
		"made.yaml":   "runbook: own/made\nsteps: [{id: a, uses: command, with: {run: make it}}, {id: b, uses: command, with: {run: ./nosuch.sh}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const none = "trial.yaml:"
	for timeline, must := range map[string]string{
		"{run: {command: ./there.sh}}":                                 "",
		"{run: {command: ./nosuch.sh --now}}":                          "must",
		"{run: {command: \"./nosuch.sh || true\"}}":                    "",
		"{run: {command: \"nosuch --now\"}}":                           "",
		"{run: {command: \"cd x && ./nosuch.sh\"}}":                    "",
		"{run: {command: ./nosuch.sh, on: n1}}":                        "", // the plan on the trial's servers looks there
		"{run: {command: make it}}, {run: {command: ./nosuch.sh}}":     "may",
		"{run: {sql: \"DO 1\"}}, {run: {command: ./nosuch.sh}}":        "must",
		"{run: ./change.yaml}":                                         "must",
		"{run: ./maybe.yaml}":                                          "may",
		"{run: ./made.yaml}":                                           "may",
		"{run: lab/restart}], prepare: [{run: {command: ./nosuch.sh}}": "must",
	} {
		head, prepare, _ := strings.Cut(timeline, "], ")
		if prepare != "" {
			prepare += "]\n"
		}
		text := "trial: t\ncluster: {engine: mariadb}\nload: {workload: oltp_point_select}\n" + prepare + "timeline: [{baseline: 10s}, " + head + ", {recovery: 10s}]\nexpect: [errors == 0]\n"
		trial, err := spec.Parse(filepath.Join(dir, "trial.yaml"), []byte(text), spec.Options{}, catalog.Parts())
		if err != nil {
			t.Fatal(timeline, err)
		}
		got := ""
		for _, f := range Commands(trial) {
			if got = "may"; f.Must {
				got = "must"
			}
			if !strings.Contains(f.String(), none) || !strings.Contains(f.String(), "the file ./nosuch.sh does not exist in ") {
				t.Errorf("%s: %s", timeline, f)
			}
		}
		if got != must {
			t.Errorf("%s: %q, want %q", timeline, got, must)
		}
	}
}
