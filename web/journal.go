package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// told is an entry of a run's journal as a person reads it.
type told struct {
	Number int          `json:"number"`
	At     time.Time    `json:"at"`
	Kind   journal.Kind `json:"kind"`
	Step   string       `json:"step,omitempty"`
	Text   string       `json:"text"`
	By     string       `json:"by,omitempty"`
}

func tellEntry(entry durable.Entry) (told, error) {
	var e journal.Event
	if err := json.Unmarshal(entry.Data, &e); err != nil {
		return told{}, fmt.Errorf("read entry %d: %w", entry.Number, err)
	}
	t := told{Number: entry.Number, At: entry.At, Kind: e.Kind, Step: e.Step, Text: e.Text(), By: e.By}
	if e.Order != nil {
		t.By = e.Order.By
	}
	return t, nil
}

// lastEvents are the newest entries, the newest first, and how many there are before them.
func lastEvents(entries []durable.Entry, most int) ([]told, int, error) {
	from := max(len(entries)-most, 0)
	var all []told
	for n := len(entries) - 1; n >= from; n-- {
		t, err := tellEntry(entries[n])
		if err != nil {
			return nil, 0, err
		}
		all = append(all, t)
	}
	return all, from, nil
}

// journalPage is a stretch of a run's journal, the newest first. It is searched here, so that the browser never holds all of it.
type journalPage struct {
	Run    string `json:"run"`
	Search string `json:"search,omitempty"`
	Before int    `json:"before,omitempty"` // only entries with a smaller number
	Total  int    `json:"total"`
	Events []told `json:"events"`
	Older  string `json:"-"` // address of what came before
}

const eventsOnPage = 200

func (s runHandlers) journal(w http.ResponseWriter, r *http.Request) error {
	run := r.PathValue("run")
	entries, err := s.Runs.Store.Entries(r.Context(), run)
	if err != nil {
		return err
	}
	p := journalPage{Run: run, Search: r.FormValue("search"), Total: len(entries), Events: []told{}}
	if p.Before, err = strconv.Atoi(r.FormValue("before")); err != nil || p.Before < 1 {
		p.Before = 0
	}
	want := strings.ToLower(p.Search)
	for n := len(entries) - 1; n >= 0; n-- {
		if p.Before > 0 && entries[n].Number >= p.Before {
			continue
		}
		t, err := tellEntry(entries[n])
		if err != nil {
			return err
		}
		if !strings.Contains(strings.ToLower(strings.Join([]string{string(t.Kind), t.Step, t.Text, t.By}, " ")), want) {
			continue
		}
		if len(p.Events) == eventsOnPage {
			p.Older = fmt.Sprintf("/runs/%s/log?before=%d&search=%s", url.PathEscape(run), p.Events[len(p.Events)-1].Number, url.QueryEscape(p.Search))
			break
		}
		p.Events = append(p.Events, t)
	}
	s.show(w, r, http.StatusOK, "log", p)
	return nil
}
