package web

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// states keeps how runs stand and how far their journals were read: no look reads an entry that another has read.
type states struct {
	mu   sync.Mutex
	kept map[string]*kept
}

// kept is one run.
type kept struct {
	mu       sync.Mutex
	sessions int
	told     time.Time
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
		s.kept[run] = &kept{}
	}
	return s.kept[run]
}

// see reads how a run stands.
func (s *Server) see(ctx context.Context, r durable.Run) (seen, error) {
	out := seen{Run: r}
	if r.Summary != nil {
		if err := json.Unmarshal(r.Summary, &out.Summary); err != nil {
			return out, fmt.Errorf("read the summary of %s: %w", r.ID, err)
		}
	}
	k := s.states.of(r.ID)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state == nil || k.state.Outcome == "" || k.sessions != r.Sessions || !k.told.Equal(r.Told) {
		if err := s.readOn(ctx, r, k); err != nil {
			return out, err
		}
	}
	out.State, out.Last, out.Metrics = k.state, k.last, k.metrics
	return out, nil
}

// readOn takes what was written into the journal of a run since it was read last. What pages have of it already stays as it is.
func (s *Server) readOn(ctx context.Context, r durable.Run, k *kept) error {
	later, read, err := s.Runs.Store.EntriesAfter(ctx, r.ID, k.read)
	if err != nil {
		return err
	}
	k.sessions, k.told = r.Sessions, r.Told
	if len(later) == 0 && k.state != nil {
		return nil
	}
	var st *journal.State
	if k.state != nil {
		st = journal.Clone(k.state)
	} else if st, err = journal.Fold(nil, s.Runs.Actions); err != nil {
		return err
	} else if err := json.Unmarshal(r.Header, &st.Header); err != nil { // until its first entry
		return fmt.Errorf("read the header of %s: %w", r.ID, err)
	}
	metrics := k.metrics
	for _, entry := range later {
		if err := st.Apply(entry, s.Runs.Actions); err != nil {
			return fmt.Errorf("run %s: entry %d: %w", r.ID, entry.Number, err)
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
	return nil
}

// seeAll reads how all runs stand, the newest first. One that cannot be read is left out and logged: it hides no other.
func (s *Server) seeAll(ctx context.Context) ([]seen, error) {
	runs, err := s.Runs.Store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]seen, 0, len(runs))
	for _, r := range runs {
		one, err := s.see(ctx, r)
		if err != nil {
			s.Log.Error("read a run", "run", r.ID, "error", err)
			continue
		}
		all = append(all, one)
	}
	return all, ctx.Err()
}
