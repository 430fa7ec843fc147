package execute

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// TestTheStateOfEveryReleaseOpensAndGoesOn reads testdata/state-N.sql: what a release left whose process died, one file for each
// format of the store or version of the interpreter, written down with sqlite3's .dump. Two rehearsals of test/gated were
// done; a run of test/asks waits for an approval.
func TestTheStateOfEveryReleaseOpensAndGoesOn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/state-*.sql")
	if err != nil || len(files) < durable.Format {
		t.Fatalf("%d kept states of %d formats, %v", len(files), durable.Format, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { goesOn(t, file) })
	}
}

func goesOn(t *testing.T, file string) {
	state := t.TempDir()
	restore(t, file, filepath.Join(state, "runs.db"))
	b := newBenchOn(t, state)
	runs, err := b.Store.Runs(t.Context())
	if err != nil || len(runs) != 3 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	asks := runs[0].ID
	for _, r := range runs[1:] {
		if st := b.stateOf(r.ID); st.Outcome != journal.RunDone {
			t.Errorf("run %s is %q", r.ID, st.Outcome)
		}
		e, err := b.Evidence(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := journal.VerifyEvidence(textEvidence(t, e)); err != nil {
			t.Errorf("evidence of %s: %v", r.ID, err)
		}
	}
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(strings.Replace(gated, ", max_age: 14d", "", 1)), Cluster: "prod1"})
	if err != nil || len(p.Gate.Passed) != 2 {
		t.Errorf("the rehearsals that were kept do not open the gate: %+v, %v", p, err)
	}
	b.User = "bob"
	if err := b.Tell(t.Context(), asks, journal.Message{Say: "approve", Plan: b.stateOf(asks).Header.Plan.Hash}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := e.Continued(); len(c) != 1 || c[0] != asks {
		t.Errorf("continued %v", c)
	}
	if err := e.Wait(t.Context(), asks); err != nil {
		t.Error(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(asks); st.Outcome != journal.RunDone || len(b.events(asks, journal.Intended)) != 2 {
		t.Errorf("outcome %q, acts %+v", st.Outcome, b.events(asks, journal.Intended))
	}
}

// restore makes a database of what was written down of one.
func restore(t *testing.T, file, path string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path) // the driver that durable registers
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
