package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/durable"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

func TestStatusGoesOnBesideADamagedRun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PLIMSOLL_HOME", filepath.Join(dir, "home"))
	store, err := durable.Open(t.Context(), durable.Options{Folder: filepath.Join(dir, "home", "runs"), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	for run, header := range map[string]string{"whole-a1": `{"runbook":"own/whole","cluster":"orders"}`, "damaged-b2": `"cut`} {
		if err := store.Create(t.Context(), run, json.RawMessage(header)); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	out, said, code := typed(t, "runbook", "status")
	if code != 0 || !strings.Contains(out, "damaged: read the header of damaged-b2") || !strings.Contains(out, "whole-a1") {
		t.Errorf("%d %s%s", code, out, said)
	}
}

// A process that was stopped in the middle of a write keeps nobody from reading how the runs stand.
func TestStatusGoesOnBesideAStoppedWriter(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PLIMSOLL_HOME", filepath.Join(dir, "home"))
	store, err := durable.Open(t.Context(), durable.Options{Folder: filepath.Join(dir, "home", "runs"), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), "whole-a1", json.RawMessage(`{"runbook":"own/whole","cluster":"orders"}`)); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "home", "runs", "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	writer, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	if _, err := writer.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"status"}, {"status", "whole-a1"}, {"history", "whole-a1"}} {
		var out, said bytes.Buffer
		limited, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		code := typedUntil(limited, console.Streams{In: strings.NewReader(""), Out: &out, Err: &said}, append([]string{"runbook"}, words...)...)
		cancel()
		if code != 0 || words[0] == "status" && !strings.Contains(out.String(), "whole-a1") {
			t.Errorf("%v: %d %s%s", words, code, &out, &said)
		}
	}
}

// A record of what runs left undone that cannot be read is told beside the runs.
func TestStatusGoesOnBesideADamagedRecordOfRemainders(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PLIMSOLL_HOME", filepath.Join(dir, "home"))
	store, err := durable.Open(t.Context(), durable.Options{Folder: filepath.Join(dir, "home", "runs"), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Create(t.Context(), "whole-a1", json.RawMessage(`{"runbook":"own/whole","cluster":"orders","clusters":["orders","orders2"]}`))
	for _, record := range []struct{ cluster, text string }{
		{"orders", `{"cluster":"orders","run":"cut`}, {"orders2", `{"cluster":"orders2","run":"whole-a1","runbook":"own/whole","step":"a","target":"n3","why":"it does not answer"}`},
	} {
		err = errors.Join(err, store.Keep(t.Context(), "remainder", record.cluster, json.RawMessage(record.text)))
	}
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"runbook", "status"}, {"runbook", "status", "whole-a1"}} {
		out, said, code := typed(t, words...)
		if code != 0 || !strings.Contains(out, "damaged: cluster orders: record 1 of what runs left undone on it cannot be read") || !strings.Contains(out, "not fixed yet: cluster orders2: n3 was left out by run whole-a1") ||
			!strings.Contains(out, "plimsoll runbook fixed whole-a1 --damaged --reason REASON") {
			t.Errorf("%v: %d %s%s", words, code, out, said)
		}
	}
	says(t, 0, "recorded as fixed: cluster orders: record 1", "runbook", "fixed", "whole-a1", "--damaged", "--reason", "nothing is left")
	says(t, 2, "no record of the clusters of run whole-a1 is damaged", "runbook", "fixed", "whole-a1", "--damaged", "--reason", "nothing is left")
	if out, said, _ := typed(t, "runbook", "status"); strings.Contains(out, "damaged:") || !strings.Contains(out, "not fixed yet: cluster orders2") {
		t.Errorf("%s%s", out, said)
	}
}

// What a run that was killed at its end has not given back is told, with the command that gives it back.
func TestStatusSaysWhatAnEndedRunHasNotReleased(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PLIMSOLL_HOME", filepath.Join(dir, "home"))
	for name, text := range map[string]string{
		"plimsoll.yaml": "clusters: {e1: {engine: singlestore, environment: staging, user: u, nodes: [{name: n1, address: '127.0.0.1:1'}]}}\n", // which stores no claim
		"r.yaml":        "runbook: own/r\nsteps: [{id: a, uses: command, with: {run: 'touch a', check: 'test -e a'}}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says(t, 0, "done", "runbook", "run", "r.yaml", "--cluster", "e1", "--yes")
	var all []runbookcmd.Status
	status := func() string {
		t.Helper()
		out, said, code := typed(t, "runbook", "status", "--json")
		all = nil
		if err := json.Unmarshal([]byte(out), &all); code != 0 || err != nil || len(all) != 1 {
			t.Fatalf("%d %s%s, %v", code, out, said, err)
		}
		out, _, _ = typed(t, "runbook", "status")
		return out
	}
	if out := status(); strings.Contains(out, "not released") || all[0].Unreleased != nil {
		t.Errorf("it was released: %s", out)
	}
	run := all[0].Run
	store, err := durable.Open(t.Context(), durable.Options{Folder: filepath.Join(dir, "home", "runs"), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Acquire(t.Context(), lock.LeaseName("e1"), run, time.Minute) // as it was before the release
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	const is = "not released: cluster e1: run %[1]s has ended and has not released it; plimsoll runbook resume %[1]s releases it"
	if out := status(); !strings.Contains(out, fmt.Sprintf(is, run)) || len(all[0].Unreleased) != 1 {
		t.Errorf("status: %s, %+v", out, all[0].Unreleased)
	}
	says(t, 0, fmt.Sprintf(is, run), "runbook", "status", run)
	says(t, 0, "Not released: cluster e1: run "+run, "runbook", "plan", "r.yaml", "--cluster", "e1")
	says(t, 0, "the cluster is released now", "runbook", "resume", run) // as the run itself did
	says(t, console.ExitBadInput, "there is nothing to resume", "runbook", "resume", run)
	says(t, console.ExitBadInput, "hint: plimsoll runbook rerun "+run+" --step a --reason REASON", "runbook", "rerun", run)
	if out := status(); strings.Contains(out, "not released") || all[0].Unreleased != nil {
		t.Errorf("after the command that is advised: %s", out)
	}
}

func TestAClusterIsNotSaidToBeUnknownUnderTheNameThatIsExpected(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PLIMSOLL_HOME", filepath.Join(dir, "home"))
	for name, text := range map[string]string{
		"plimsoll.yaml": "clusters: {e1: {engine: mysql, environment: staging, user: u, nodes: [{name: n1, address: '127.0.0.1:1'}]}}\n",
		"r.yaml":        "runbook: own/r\nsteps: [{id: a, uses: command, with: {run: 'true'}}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says(t, console.ExitBadInput, `unknown cluster "lab:e1", expected e1`, "runbook", "plan", "r.yaml", "--cluster", "lab:e1")
}
