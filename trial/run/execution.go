package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/analyze"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/spec"
)

// execution is one run of a runbook inside a trial.
type execution struct {
	call  spec.Call
	tell  func(series.Event)
	show  func(step string)
	id    string
	asked chan journal.Event

	mu    sync.Mutex
	begun map[string]time.Time
	spans []judge.Span
	keeps string // why its claim stays in the cluster
}

// execute runs a runbook to its end. A run that does not come to a good one halts the trial: the change failed, which answers
// the question, or it could not be tried.
func (r *runner) execute(ctx context.Context, s *servers, call spec.Call, tell func(series.Event), show func(string)) ([]judge.Span, error) {
	service := r.runs.service
	p, err := service.Prepare(ctx, execute.Request{Book: call.Book, Cluster: r.nameOf(s), Inputs: call.Said, BreakLock: r.options.BreakLock})
	if err != nil {
		return nil, refusedBy(ctx, r.trial, call, err)
	}
	p.Guardrails = nil // the load was begun with what they look at: what is not there just now holds the run
	if err := p.Trouble(); err != nil {
		return nil, refusedBy(ctx, r.trial, call, err, refusing(p.Header.Plan)...)
	}
	x := &execution{call: call, tell: tell, show: show, asked: make(chan journal.Event, 64), begun: map[string]time.Time{}}
	if x.id, err = service.Begin(ctx, p); err != nil {
		return nil, refusedBy(ctx, r.trial, call, err)
	}
	r.runs.follow(x)
	defer r.runs.follow(nil)
	if err := service.Start(ctx, r.runs.executor, x.id, journal.Command{Do: journal.DoRun}); err != nil {
		_, leaving := r.leave(ctx, x) // it did nothing, and has taken its cluster
		return nil, errors.Join(err, leaving)
	}
	aborted, err := awaitRun(ctx, r, x)
	st, stateErr := r.leave(ctx, x)
	if why := x.claimStays(); why != "" && r.trial.Existing != nil { // the trial's store, which could take it back, ends with the trial
		r.note("After the run of %s %s. %s --break-lock REASON takes over the lock.", call.Name(), why, r.trial.Command)
	}
	if stateErr != nil {
		return x.steps(), errors.Join(err, stateErr)
	}
	r.runs.all = append(r.runs.all, ended{x.id, st, call.Made})
	tellNotExecuted(r, call, st)
	for _, i := range st.Items {
		if troubles := i.Output.Troubles(); len(troubles) > 0 {
			r.note("Step %s of %s finished despite this: %s.", i.Key, call.Name(), strings.Join(troubles, "; "))
		}
		if i.Phase == journal.StepFailed && i.Advice != "" {
			r.note("Step %s of %s failed; what to do: %s.", i.Key, call.Name(), i.Advice)
		}
	}
	if err != nil {
		return x.steps(), err
	}
	if aborted == nil && st.Outcome != journal.RunDone {
		aborted = endedBadly(r.trial, call, st, x.id)
	}
	if aborted != nil {
		return x.steps(), aborted
	}
	return x.steps(), nil
}

// awaitRun waits for the end of a run, agrees to what it asks if the trial may, and breaks it off at its limit.
func awaitRun(ctx context.Context, r *runner, x *execution) (*abort, error) {
	limited, cancel := context.WithTimeoutCause(ctx, x.call.Limit, errOverLimit)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- r.runs.executor.Wait(limited, x.id) }()
	for {
		select {
		case e := <-x.asked:
			if !x.call.Approve {
				return r.abortLoad(ctx, x, &abort{
					answer: analyze.CouldNotRun, reason: fmt.Sprintf("step %s of %s waits for a person (%s)", e.Step, x.call.Name(), asks(e)),
					advice: "approve: true lets the trial answer",
				})
			}
			if err := r.runs.service.Agree(ctx, x.id, e, r.runs.service.User, "approve: true in the trial"); err != nil {
				return nil, err
			}
		case err := <-over:
			if errors.Is(context.Cause(limited), errOverLimit) {
				return r.abortLoad(ctx, x, abortTooLong(ctx, r, x))
			}
			return nil, err
		}
	}
}

var errOverLimit = errors.New("over its limit")

// asks is what a person is asked.
func asks(e journal.Event) string {
	if e.Caution != "" {
		return e.Caution
	}
	return e.Note
}

// follow makes an execution the one whose events are told.
func (s *runs) follow(x *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = x
}

// observe makes the trial's events of the run's. The run waits for it.
func (x *execution) observe(e journal.Event, at time.Time) {
	event := func(kind series.EventKind, detail map[string]any) {
		if detail == nil {
			detail = map[string]any{}
		}
		detail["run"] = x.id
		x.tell(series.Event{Time: at, Kind: kind, Name: e.Step, Detail: detail})
	}
	switch e.Kind {
	case journal.Valued:
		if !e.Skip {
			x.begin(e.Step, at)
			x.show(e.Step)
			event(series.StepStart, nil)
		}
	case journal.Verified:
		detail := map[string]any{"seconds": x.end(e.Step, at).Seconds()}
		if troubles := e.Output.Troubles(); len(troubles) > 0 {
			detail[action.TroublesKey] = troubles
		}
		event(series.StepEnd, detail)
	case journal.Failed:
		kind := series.StepRetry
		if e.Final {
			kind = series.StepEnd
			x.end(e.Step, at)
		}
		event(kind, map[string]any{"error": e.Error})
	case journal.Asked:
		event(series.RunAsked, map[string]any{"note": asks(e)})
		x.asked <- e
	case journal.Approved:
		event(series.RunApproved, map[string]any{"by": e.By})
		if !x.call.Book.Acts(e.Step) {
			event(series.StepEnd, map[string]any{"seconds": x.end(e.Step, at).Seconds()})
		}
	case journal.Held:
		event(series.RunHeld, map[string]any{"guardrail": e.Reason})
	case journal.Freed:
		event(series.RunFreed, nil)
	case journal.Said:
		if e.Claim {
			x.mu.Lock()
			x.keeps = strings.TrimPrefix(x.keeps+"; "+e.Reason, "; ")
			x.mu.Unlock()
		}
	}
}

// claimStays is why the run's claim stays in the cluster; "" if it does not.
func (x *execution) claimStays() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.keeps
}

func (x *execution) begin(step string, at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begun[step] = at
}

func (x *execution) end(step string, at time.Time) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	from, open := x.begun[step]
	if !open {
		return 0
	}
	delete(x.begun, step)
	x.spans = append(x.spans, judge.Span{Key: step, From: from, To: at})
	return at.Sub(from)
}

// steps are those of the run so far; one that had not ended ends now.
func (x *execution) steps() []judge.Span {
	x.mu.Lock()
	open := make([]string, 0, len(x.begun))
	for step := range x.begun {
		open = append(open, step)
	}
	x.mu.Unlock()
	for _, step := range open {
		x.end(step, time.Now())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.spans
}
