package execute

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// A run whose journal was changed in the store, cut off or emptied executes nothing of it, whatever it is told to do; one that can still be read can be given up.
func TestARunWhoseJournalWasChangedActsNoMore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bench, db *sql.DB) error{
		"another command in its text": (*bench).sayOther,
		"its last entry is cut off": func(_ *bench, db *sql.DB) error {
			_, err := db.ExecContext(t.Context(), `DELETE FROM operation_outputs WHERE function_id = (SELECT MAX(function_id) FROM operation_outputs)`)
			return err
		},
		"an entry is missing": func(_ *bench, db *sql.DB) error {
			_, err := db.ExecContext(t.Context(), `DELETE FROM operation_outputs WHERE function_id = 2`)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			run := b.begin(Request{Book: b.parse(mending)})
			if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed {
				t.Fatal(st.Outcome)
			}
			b.put("mended", "")
			before := b.folderHas()
			db, err := sql.Open("sqlite", filepath.Join(b.state, "runs.db")+"?_pragma=busy_timeout(10000)") // the service writes too
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(change(b, db), db.Close()); err != nil {
				t.Fatal(err)
			}
			for _, do := range []journal.Command{{Do: "resume"}, {Do: "cancel", Undo: true}} {
				var altered *durable.AlteredError
				if err := b.tries(run, do); !errors.As(err, &altered) {
					t.Errorf("%s: %v, want that the journal is not as it was written", do.Do, err)
				}
			}
			if now := b.folderHas(); now != before {
				t.Errorf("it acted: %s, before %s", now, before)
			}
			if name != "another command in its text" {
				return
			}
			if st := b.runSession(run, journal.Command{Do: "cancel", Leave: "its journal was changed"}); st.Outcome != journal.RunCancelled || b.folderHas() != before {
				t.Errorf("given up: %q, %s", st.Outcome, b.folderHas())
			}
		})
	}
}

// sayOther changes in the store what the run's text has its steps do.
func (b *bench) sayOther(db *sql.DB) error {
	rows, err := db.QueryContext(b.t.Context(), `SELECT function_id, output FROM operation_outputs`)
	if err != nil {
		return err
	}
	changed := map[int]string{}
	for rows.Next() {
		var id int
		var output string
		if err := rows.Scan(&id, &output); err != nil {
			return err
		}
		text, err := base64.StdEncoding.DecodeString(output)
		if err != nil {
			return err
		}
		if other := strings.ReplaceAll(string(text), b.folder+"/a", b.folder+"/other"); other != string(text) {
			changed[id] = base64.StdEncoding.EncodeToString([]byte(other))
		}
	}
	if len(changed) == 0 {
		return errors.New("no entry has the text")
	}
	for id, output := range changed {
		if _, err := db.ExecContext(b.t.Context(), `UPDATE operation_outputs SET output = ? WHERE function_id = ?`, output, id); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// folderHas lists what the steps have made.
func (b *bench) folderHas() string {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.folder, "*"))
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(files, " ")
}
