package web

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// states keeps how runs that have ended stand: their journals are not read again for each look.
type states struct {
	mu   sync.Mutex
	kept map[string]kept
}

type kept struct {
	sessions int
	told     time.Time
	state    *journal.State
}

// seen is a run as the store and its journal tell it.
type seen struct {
	durable.Run
	State   *journal.State
	Summary journal.Summary
}

// see reads how a run stands.
func (s *Server) see(ctx context.Context, r durable.Run) (seen, error) {
	out := seen{Run: r}
	if r.Summary != nil {
		if err := json.Unmarshal(r.Summary, &out.Summary); err != nil {
			return out, fmt.Errorf("read the summary of %s: %w", r.ID, err)
		}
	}
	s.states.mu.Lock()
	k, is := s.states.kept[r.ID]
	s.states.mu.Unlock()
	if is && k.sessions == r.Sessions && k.told.Equal(r.Told) {
		out.State = k.state
		return out, nil
	}
	st, err := s.Runs.State(ctx, r.ID)
	if err != nil {
		return out, err
	}
	out.State = st
	if st.Outcome != "" {
		s.states.mu.Lock()
		defer s.states.mu.Unlock()
		if s.states.kept == nil {
			s.states.kept = map[string]kept{}
		}
		s.states.kept[r.ID] = kept{r.Sessions, r.Told, st}
	}
	return out, nil
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
