package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/durable"
	"plimsoll/runbook/journal"
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
