package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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

	event journal.Event
}

func tellEntry(entry durable.Entry) (told, error) {
	var e journal.Event
	if err := json.Unmarshal(entry.Data, &e); err != nil {
		return told{}, fmt.Errorf("read entry %d: %w", entry.Number, err)
	}
	t := told{Number: entry.Number, At: entry.At, Kind: e.Kind, Step: e.Step, Text: e.Text(), By: e.By, event: e}
	if e.Order != nil {
		t.By, t.Text = e.Order.By, strings.Join(slices.DeleteFunc([]string{ordered(*e.Order), t.Text}, func(s string) bool { return s == "" }), "; ")
	}
	return t, nil
}

// ordered is what a person had a session do, and why.
func ordered(o journal.Command) string {
	text := ""
	switch o.Do {
	case journal.DoRun:
		text = "execution began"
	case journal.DoRerun:
		text = "step " + o.Step + " again"
		if o.Downstream {
			text += ", and all after it"
		}
	case journal.DoCancel:
		text = "cancelled"
		if o.Undo {
			text += ", to be undone"
		}
	default:
		return ""
	}
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

// journalPage is a part of a run's journal, the newest first. It is searched here, so that the browser never holds all of it.
type journalPage struct {
	Run    string `json:"run"`
	Search string `json:"search,omitempty"`
	Before int    `json:"before,omitempty"` // only entries with a smaller number
	Total  int    `json:"total"`
	Events []told `json:"events"`
	Back   int    `json:"searched_back_to,omitempty"` // the search ended there, with more before it
	Older  string `json:"-"`                          // address of what came before
}

const (
	eventsOnPage = 200
	mostSearched = 20_000 // entries that are looked through for one page: the next goes on from there
)

func (s runHandlers) journal(w http.ResponseWriter, r *http.Request) error {
	run := r.PathValue("run")
	p := journalPage{Run: run, Search: r.FormValue("search"), Events: []told{}}
	var err error
	if p.Before, err = strconv.Atoi(r.FormValue("before")); err != nil || p.Before < 1 {
		p.Before = 0
	}
	if err := s.search(r.Context(), &p, mostSearched); err != nil {
		return err
	}
	if p.Total == 0 && wantsJSON(r) { // no person is shown it, and it takes a while
		last, err := s.Runs.Store.EntriesBefore(r.Context(), run, 0, 1)
		if err != nil {
			return err
		}
		if len(last) > 0 {
			p.Total = last[0].Number
		}
	}
	s.show(w, r, http.StatusOK, "log", p)
	return nil
}

// search goes through the journal from its end until the page is full, and no further than it must: the journal may be long.
func (s runHandlers) search(ctx context.Context, p *journalPage, furthest int) error {
	want, before := strings.ToLower(p.Search), p.Before
	for looked := 0; looked < furthest; {
		most := eventsOnPage
		switch { // the store goes through all that comes before what it returns: it is asked twice for a page, and no more
		case want != "" && looked == 0:
			most = min(furthest, 10*eventsOnPage)
		case want != "":
			most = furthest - looked
		}
		entries, err := s.Runs.Store.EntriesBefore(ctx, p.Run, before, most)
		if err != nil || len(entries) == 0 {
			return err
		}
		if before == 0 {
			p.Total = entries[len(entries)-1].Number
		}
		for _, entry := range slices.Backward(entries) {
			t, err := tellEntry(entry)
			if err != nil {
				return err
			}
			if strings.Contains(strings.ToLower(strings.Join([]string{string(t.Kind), t.Step, t.Text, t.By}, " ")), want) {
				p.Events = append(p.Events, t)
			}
			if before = entry.Number; len(p.Events) == eventsOnPage {
				p.olderThan(before)
				return nil
			}
		}
		if looked += len(entries); before == 1 {
			return nil
		}
	}
	p.Back = before
	p.olderThan(before)
	return nil
}

// olderThan notes where to go on.
func (p *journalPage) olderThan(number int) {
	if number > 1 {
		p.Older = fmt.Sprintf("/runs/%s/log?before=%d&search=%s", url.PathEscape(p.Run), number, url.QueryEscape(p.Search))
	}
}
