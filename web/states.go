package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// states keeps how runs stand and how far their journals were read: no look reads an entry that another has read. It keeps the runs that were looked at
// last; of others that have ended it keeps their line in a list.
type states struct {
	mu    sync.Mutex
	kept  map[string]*kept
	looks int                 // at runs, by which to tell which was looked at last
	rows  map[string]endedRow // of the runs that are in the store
}

// endedRow is a run that has ended, in a list.
type endedRow struct {
	sessions int
	told     time.Time
	row      runRow
}

const (
	mostStates  = 500    // that are kept; with fewer than half of them looking goes on
	mostEntries = 20_000 // of journals that are read at once: of a longer one there is a piece after the other
)

// kept is one run.
type kept struct {
	looked   int // when, in looks; of the states
	mu       sync.Mutex
	sessions int
	told     time.Time
	behind   bool // there is more of its journal than was read
	read     durable.Read
	state    *journal.State
	last     []durable.Entry    // the newest of its journal
	metrics  map[string]float64 // the last reading of its guardrails
}

// seen is a run as the store and its journal tell it.
type seen struct {
	durable.Run
	State   *journal.State
	Summary journal.Summary
	Last    []durable.Entry
	Metrics map[string]float64
}

func (s *states) of(run string) *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]*kept{}
	}
	if s.kept[run] == nil {
		if len(s.kept) >= mostStates { // half of them at once: this takes a look at all
			looked := make([]int, 0, len(s.kept))
			for _, k := range s.kept {
				looked = append(looked, k.looked)
			}
			slices.Sort(looked)
			maps.DeleteFunc(s.kept, func(_ string, k *kept) bool { return k.looked <= looked[len(looked)/2] })
		}
		s.kept[run] = &kept{}
	}
	s.looks++
	s.kept[run].looked = s.looks
	return s.kept[run]
}

// has tells whether a run is kept.
func (s *states) has(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[run] != nil
}

// row is the line of a run that has ended, if it is known as the store has it now.
func (s *states) row(r durable.Run) (runRow, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, known := s.rows[r.ID]
	return one.row, known && one.sessions == r.Sessions && one.told.Equal(r.Told)
}

func (s *states) keepRow(r durable.Run, row runRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[string]endedRow{}
	}
	s.rows[r.ID] = endedRow{r.Sessions, r.Told, row}
}

// keepRowsOf forgets the runs that are not in the store any more.
func (s *states) keepRowsOf(runs []durable.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) <= len(runs) {
		return
	}
	there := map[string]bool{}
	for _, r := range runs {
		there[r.ID] = true
	}
	maps.DeleteFunc(s.rows, func(run string, _ endedRow) bool { return !there[run] })
}

// see reads how a run stands.
func (s *Server) see(ctx context.Context, r durable.Run) (seen, error) {
	for {
		one, _, err := s.seeOn(ctx, r, mostEntries)
		if err != nil || one.State != nil {
			return one, err
		}
	}
}

// seeOn reads how a run stands, and at most so many entries of its journal for that. Without a state there is more of it.
func (s *Server) seeOn(ctx context.Context, r durable.Run, most int) (one seen, entries int, err error) {
	if one, err = summarized(r); err != nil {
		return one, 0, err
	}
	if most == 0 && !s.states.has(r.ID) { // there is nothing to begin
		return one, 0, nil
	}
	k := s.states.of(r.ID)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state == nil || k.state.Outcome == "" || k.behind || k.sessions != r.Sessions || !k.told.Equal(r.Told) {
		if most == 0 {
			return one, 0, nil
		}
		if entries, err = s.readOn(ctx, r, k, most); err != nil {
			return one, 0, err
		}
	}
	if !k.behind {
		one.State, one.Last, one.Metrics = k.state, k.last, k.metrics
	}
	return one, entries, nil
}

// summarized is a run with what its executor said of it last.
func summarized(r durable.Run) (one seen, err error) {
	one.Run = r
	if r.Summary != nil {
		if err = json.Unmarshal(r.Summary, &one.Summary); err != nil {
			err = fmt.Errorf("read the summary of %s: %w", r.ID, err)
		}
	}
	return one, err
}

// readOn takes what was written into the journal of a run since it was read last. What pages have of it already stays as it is.
func (s *Server) readOn(ctx context.Context, r durable.Run, k *kept, most int) (entries int, err error) {
	later, read, err := s.Runs.Store.EntriesAfter(ctx, r.ID, k.read, most)
	if err != nil {
		return 0, err
	}
	k.sessions, k.told, k.behind = r.Sessions, r.Told, len(later) == most
	if len(later) == 0 && k.state != nil {
		return 0, nil
	}
	var st *journal.State
	if k.state != nil {
		st = journal.Clone(k.state)
	} else if st, err = journal.Fold(nil, s.Runs.Actions); err != nil {
		return 0, err
	} else if err := json.Unmarshal(r.Header, &st.Header); err != nil { // until its first entry
		return 0, fmt.Errorf("read the header of %s: %w", r.ID, err)
	}
	metrics := k.metrics
	for _, entry := range later {
		if err := st.Apply(entry, s.Runs.Actions); err != nil {
			return 0, fmt.Errorf("run %s: entry %d: %w", r.ID, entry.Number, err)
		}
	}
	for n := len(later) - 1; n >= 0; n-- {
		var e struct {
			Metrics map[string]float64 `json:"metrics"`
		}
		if json.Unmarshal(later[n].Data, &e) == nil && len(e.Metrics) > 0 {
			metrics = e.Metrics
			break
		}
	}
	last := slices.Concat(k.last, later[max(len(later)-eventsOfRun, 0):])
	k.read, k.state, k.metrics, k.last = read, st, metrics, last[max(len(last)-eventsOfRun, 0):]
	return len(later), nil
}

// seeAll reads how all runs stand, the newest first. One that cannot be read is left out and logged: it hides no other. Of runs that have ended it reads so
// much of their journals and no more: of those that are still unread it tells what their executors said last, and the next look goes on with them.
func (s *Server) seeAll(ctx context.Context) ([]runRow, error) {
	runs, err := s.Runs.Store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	s.states.keepRowsOf(runs)
	all, left := make([]runRow, 0, len(runs)), mostEntries
	for _, r := range runs {
		row, known := s.states.row(r)
		if !known {
			read := 0
			if row, read, err = s.rowFor(ctx, r, left); err != nil {
				s.Log.Error("read a run", "run", r.ID, "error", err)
				continue
			}
			left -= read
		}
		all = append(all, row)
	}
	return all, ctx.Err()
}

// rowFor is a run in a list. Of one that has ended it reads at most so many entries, and returns how many.
func (s *Server) rowFor(ctx context.Context, r durable.Run, most int) (row runRow, read int, err error) {
	one, err := summarized(r)
	if err != nil {
		return row, 0, err
	}
	if said := (runRow{Status: one.Summary.Status}); said.Status == "" || said.Open() {
		one, err = s.see(ctx, r)
	} else {
		one, read, err = s.seeOn(ctx, r, most)
	}
	if err != nil {
		return row, read, err
	}
	if one.State != nil {
		switch row = rowOf(one); {
		case one.State.Outcome != "":
			s.states.keepRow(r, row)
		case row.Status == journal.Running:
			executed, _, err := s.Runs.Executed(ctx, r.ID)
			if err != nil {
				return row, read, err
			}
			row.stop(one.State, executed)
		}
		return row, read, nil
	}
	var h journal.Header
	if err := json.Unmarshal(r.Header, &h); err != nil {
		return row, read, fmt.Errorf("read the header of %s: %w", r.ID, err)
	}
	return runRow{
		Run: r.ID, Runbook: h.Runbook, Cluster: h.Cluster, Environment: h.Environment, Status: one.Summary.Status, Position: one.Summary.Position,
		Reason: one.Summary.Reason, By: h.By, Begun: r.Created, Changed: r.Told, Override: h.Override,
	}, read, nil
}
