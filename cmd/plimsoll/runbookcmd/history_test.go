package runbookcmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/runbook/journal"
)

// History names the rehearsals that opened the gate, and says what happened in the words of those who read it.
func TestHistoryNamesTheRehearsalsAndSaysWhatHappened(t *testing.T) {
	at := time.Date(2026, 11, 26, 20, 17, 14, 0, time.UTC)
	h := journal.Header{Runbook: "own/pool", Cluster: "shop", By: "ann@db", Rehearsals: []journal.Rehearsal{
		{Trial: "results/pool/1", At: at, Cluster: "lab", Product: "MariaDB", Minor: "10.11", Topology: "pair", Inputs: map[string]any{"value": "500"}},
	}}
	var out bytes.Buffer
	writeEvent(&out, 1, at, journal.Event{Kind: journal.Began, Header: &h})
	writeEvent(&out, 2, at, journal.Event{Kind: journal.Valued, Step: "a", Skip: true})
	writeEvent(&out, 3, at, journal.Event{Kind: journal.Parked, Reason: "it was interrupted"})
	local := at.Local()
	for _, want := range []string{
		"   1 " + local.Format(time.DateTime) + " run started          own/pool on shop by ann@db, plan ",
		"     gate opened by 1 rehearsal:\n       " + local.Format("2006-01-02 15:04") + "  MariaDB 10.11 (pair) lab with value=500  results/pool/1\n",
		" step skipped         a\n", " process ended        it was interrupted\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	for _, kind := range []journal.Kind{
		journal.Began, journal.Opened, journal.Targeted, journal.Ready, journal.Valued, journal.Checked, journal.Asked, journal.Approved, journal.Intended, journal.Acted, journal.Cut,
		journal.Verified, journal.Failed, journal.Held, journal.Freed, journal.Undoing, journal.Undone, journal.Stuck, journal.Said, journal.Stopping, journal.Parked, journal.Ended,
	} {
		if kinds[kind] == "" {
			t.Errorf("%s has no words", kind)
		}
	}
}
