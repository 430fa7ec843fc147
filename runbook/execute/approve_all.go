package execute

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"plimsoll/runbook/journal"
)

// ApproveAll lets as many people as are needed agree to everything, until stopped. It is for the torture alone.
func ApproveAll(ctx context.Context, s *Service) (stop func()) {
	asked := make(chan journal.Message, 64)
	done := make(chan struct{})
	before := s.Observe
	s.Observe = func(run string, e journal.Event, at time.Time) {
		if before != nil {
			before(run, e, at)
		}
		if e.Kind == journal.Asked {
			asked <- journal.Message{Say: "approve", Step: e.Step, Plan: e.Plan, Reason: run}
		}
	}
	go func() {
		defer close(done)
		for w := range asked {
			run := w.Reason
			for n := range 5 {
				w.By = fmt.Sprintf("approver-%d", n+1)
				if data, err := json.Marshal(w); err == nil {
					_ = s.Store.Send(ctx, run, data) // a run that gets none times out, which is told
				}
			}
		}
	}()
	for _, w := range unanswered(ctx, s) { // asked before a death, they are not asked again
		asked <- w
	}
	return func() {
		s.Observe = before
		close(asked)
		<-done
	}
}

// unanswered are the approvals that runs of the store wait for.
func unanswered(ctx context.Context, s *Service) []journal.Message {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return nil // the run says so itself
	}
	var all []journal.Message
	for _, run := range runs {
		st, err := s.State(ctx, run.ID)
		if err != nil {
			continue
		}
		for _, i := range journal.Asking(st) {
			all = append(all, journal.Message{Say: "approve", Step: i.Key, Plan: st.Header.Plan.Hash, Reason: run.ID})
		}
	}
	return all
}
