package web

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/runbook/journal"
)

// A run whose process was killed is stopped on every page, and waits for a person.
func TestARunThatNoProcessExecutesIsStopped(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	stored, st := h.ended(v)
	run := stored.ID
	forgetFrom(t, h, st.Events) // as if its process had died before it could write that the run ended
	h.states.kept, h.states.rows = nil, nil
	var now struct{ Stopped, Running []runRow }
	var page runPage
	var list runList
	for path, into := range map[string]any{"/": &now, "/runs/" + run: &page, "/runs": &list} {
		if err := json.Unmarshal([]byte(v.get(path, "Accept", "application/json").body), into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if len(now.Stopped) != 1 || len(now.Running) != 0 || now.Stopped[0].Status != "stopped" || page.Status != "stopped" || page.Executed || list.Runs[0].Status != "stopped" {
		t.Errorf("now: %+v; its page: %s, executed %v; in the list: %s", now, page.Status, page.Executed, list.Runs[0].Status)
	}
	for language, word := range map[string]string{"en": "stopped", "ko": "중단됨"} {
		for _, path := range []string{"/", "/runs/" + run, "/runs"} {
			if body := v.get(path, "Accept-Language", language).body; !strings.Contains(body, "s-stopped") || strings.Contains(body, "s-running") || !strings.Contains(body, word) {
				t.Errorf("%s in %s: %s", path, language, body)
			}
		}
	}
}

// forgetFrom takes the entries of a run's journal from a number on out of the store.
func forgetFrom(t *testing.T, h *house, from int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.state, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it was committed
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "PRAGMA busy_timeout = 10000"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `DELETE FROM operation_outputs WHERE function_name = 'entry' AND rowid IN (SELECT rowid FROM operation_outputs WHERE function_name = 'entry' ORDER BY rowid LIMIT -1 OFFSET ?)`, from-1); err != nil {
		t.Fatal(err)
	}
}

// A run that is done is done wholly, although its executor has not said so yet.
func TestARunThatIsDoneIsDoneWholly(t *testing.T) {
	one := seen{State: &journal.State{Outcome: journal.RunDone}, Summary: journal.Summary{Share: 0.4}}
	if share := rowOf(one).Share; share != 1 {
		t.Errorf("done is %v of it", share)
	}
	if one.State.Outcome = journal.RunFailed; rowOf(one).Share != 0.4 {
		t.Errorf("failed after %v of it", rowOf(one).Share)
	}
}
