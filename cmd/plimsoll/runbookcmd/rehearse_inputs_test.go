package runbookcmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/internal/document"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/trial/spec"
)

// setsValue prepares a run of mysql/set-variable with a value of max_connections, and writes a trial of it with another's.
func setsValue(t *testing.T, value, trial, file string) *execute.Prepared {
	t.Helper()
	book, err := runs.ReadRunbook("mysql/set-variable")
	if err != nil {
		t.Fatal(err)
	}
	text := "trial: rehearse\ncluster: {engine: mariadb}\nload: {workload: oltp_point_select, table_size: 100, rate: 10}\ntimeline:\n  - baseline: 1s\n" +
		"  - run: mysql/set-variable\n    with:\n      name: max_connections\n      value: \"" + trial + "\"\n    approve: true\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return &execute.Prepared{Header: journal.Header{Runbook: book.Name, Hash: book.Hash, Cluster: "shop",
		Inputs: action.Facts{"name": "max_connections", "value": value, "persist": "no"}}}
}

// A trial whose inputs are not those of the run is refused before it has a lab, with the place in the file.
func TestATrialWithOtherInputsIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trial.yaml")
	for value, refused := range map[string]bool{"500": true, "600": false} {
		p := setsValue(t, value, "600", file)
		if !refused {
			trial, err := trialcmd.ReadWith(file, spec.Options{}, catalog.Parts())
			if err == nil {
				err = otherInputs(trial, p, file)
			}
			if err != nil {
				t.Errorf("-i value=%s: %v", value, err)
			}
			continue
		}
		err := rehearseOptions{trial: file}.rehearseOn(t.Context(), console.Streams{}, nil, "mysql/set-variable", p, place{parts: catalog.Parts()})
		var said *document.Problem
		if !errors.As(err, &said) || said.Line != 9 || !strings.Contains(said.Text, "used value=600, this run uses value=500") ||
			said.Hint != "write with: {value: \"500\"} in "+file+", or give -i value=600" {
			t.Errorf("-i value=%s: %+v", value, err)
		}
	}
}

// A rehearsal with other inputs leaves the trial of the first where its person was told that it is; one with the same inputs writes it again.
func TestATrialOfOtherInputsHasAFolderOfItsOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "rehearsals/set-variable-shop"
	folder := func(p *execute.Prepared) string { return rehearseOptions{}.folder("mysql/set-variable", p) }
	first := setsValue(t, "500", "500", filepath.Join(name, trialFile))
	if got := folder(first); got != name {
		t.Errorf("the same inputs: %s", got)
	}
	second := setsValue(t, "600", "600", "elsewhere.yaml")
	if got := folder(second); got != name+"-2" {
		t.Errorf("other inputs: %s", got)
	}
	setsValue(t, "700", "700", filepath.Join(name+"-2", trialFile))
	if got := folder(second); got != name+"-3" {
		t.Errorf("other inputs than two: %s", got)
	}
	if got := (rehearseOptions{out: name}).folder("mysql/set-variable", second); got != name {
		t.Errorf("--out: %s", got)
	}
}
