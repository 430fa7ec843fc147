package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// Which rehearsals opened the gate is said of a run where one reads about it.
func TestARunNamesTheRehearsalsThatOpenedItsGate(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PLIMSOLL_HOME", filepath.Join(dir, "home"))
	store, err := durable.Open(t.Context(), durable.Options{Folder: filepath.Join(dir, "home", "runs"), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 26, 20, 17, 14, 0, time.UTC)
	header := journal.Header{
		Runbook: "own/pool", Cluster: "shop", Environment: "production", By: "ann@db", At: at, Text: "runbook: own/pool\nsteps: [{id: a, uses: pause, with: {for: 1s}}]\n",
		Rehearsals: []journal.Rehearsal{{Trial: "results/pool/1", Passed: true, At: at, Began: at, Cluster: "lab", Product: "MariaDB", Minor: "10.11", Topology: "pair", Inputs: map[string]any{"value": "500"}}},
	}
	begun, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), "pool-a1", begun); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	line := at.Local().Format("2006-01-02 15:04") + "  MariaDB 10.11 (pair) lab with value=500  results/pool/1"
	out, said, code := typed(t, "runbook", "status", "pool-a1")
	if code != 0 || !strings.Contains(out, "gate opened by 1 rehearsal:\n") || !strings.Contains(out, line) {
		t.Errorf("%d %s%s", code, out, said)
	}
	says(t, 0, `"trial": "results/pool/1"`, "runbook", "status", "pool-a1", "--json")
}
