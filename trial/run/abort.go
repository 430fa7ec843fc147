package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook/journal"
	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"
)

// abort ends a trial before its end, with an answer of its own.
type abort struct {
	answer analyze.Answer
	reason string
	advice string   // of one that could not run: what to do
	steps  []string // of a plan that was refused: the ids of those that refuse
}

func (h *abort) Error() string { return h.reason }

// refusedBy is the answer of a trial whose run was refused. What is advised about the run is said of the trial, by the command that runs it again:
// the run was on servers that end with the trial.
func refusedBy(ctx context.Context, t *spec.Trial, call spec.Call, err error, steps ...string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if claimed := (*action.ClaimedError)(nil); errors.As(err, &claimed) {
		claimed.Again = t.Command
	}
	return &abort{answer: analyze.CouldNotRun, reason: fmt.Sprintf("%s: %v", call.Name(), err), advice: journal.OfPlan(hint.Of(err), t.Command), steps: steps}
}

// refusing are the ids of the steps of a plan that cannot be checked, or of which Plimsoll cannot tell whether they are needed.
func refusing(p journal.Plan) []string {
	var ids []string
	for _, s := range p.Steps {
		if s.Failed || s.State == action.Unknown {
			ids = append(ids, judge.Span{Key: s.Key}.ID())
		}
	}
	return ids
}

// endedBadly is the answer of a run that did not come to a good end: the change failed, unless it had no part in that. A statement that the
// trial itself contains and the server does not understand, or a command that is not there, is a mistake in the trial.
func endedBadly(t *spec.Trial, call spec.Call, st *journal.State, run string) *abort {
	h := &abort{answer: analyze.Fail, reason: "the run of " + call.Name() + " " + howEnded(st)}
	if st.Cause != "" {
		h.answer = analyze.CouldNotRun
	}
	for _, i := range st.Items {
		switch {
		case i.Phase != journal.StepFailed:
		case i.Cause != "":
			h.answer, h.advice = analyze.CouldNotRun, journal.OfPlan(strings.ReplaceAll(i.Advice, " "+run, " RUN"), t.Command)
		case call.Made && slices.Contains([]string{string(engine.Missing), string(engine.Invalid)}, i.Class):
			h.answer, h.reason = analyze.CouldNotRun, call.At.Errorf("%s", h.reason).Error()
			h.advice = "correct what the trial's timeline executes there"
		}
	}
	return h
}

// refusalOf makes of the refusal that a call expects no error at all, and of anything else one.
func refusalOf(r *runner, call spec.Call, err error, tell func(series.Event)) error {
	var aborted *abort
	switch {
	case call.Refused == "":
		return err
	case err == nil:
		return &abort{answer: analyze.Fail, reason: fmt.Sprintf("the run of %s should have been refused by its step %s, but it succeeded", call.Name(), call.Refused)}
	case errors.As(err, &aborted) && aborted.answer == analyze.CouldNotRun && slices.Contains(aborted.steps, call.Refused):
		tell(series.Event{Kind: series.RunRefused, Name: call.Name(), Detail: map[string]any{"why": aborted.reason}})
		r.note("%s was refused, as expected: %s.", call.Name(), aborted.reason)
		return nil
	}
	return err
}

// howEnded says of a run how it ended, and at which step.
func howEnded(st *journal.State) string {
	ended, after := map[journal.Outcome]string{journal.RunUndone: "was undone", journal.RunCancelled: "was cancelled"}[st.Outcome], ""
	if ended != "" {
		after = " and " + ended
	}
	for _, i := range st.Items {
		if i.Phase == journal.StepFailed {
			return fmt.Sprintf("failed at step %s%s: %s", i.Key, after, i.Error)
		}
	}
	return strings.TrimSuffix(cmp.Or(ended, string(journal.RunFailed))+": "+st.Why, ": ")
}

// abortTooLong says what a run was at when its time was over. One that a guardrail held without data tells nothing of the change.
func abortTooLong(ctx context.Context, r *runner, x *execution) *abort {
	h := &abort{answer: analyze.Fail, reason: fmt.Sprintf("the run of %s had not ended after %s", x.call.Name(), x.call.Limit)}
	st, err := r.runs.service.State(ctx, x.id)
	if err != nil {
		return h
	}
	if at := st.Position(); at != "" {
		h.reason += ", it was at " + at
	}
	if said := lastSaid(ctx, r, x.id); said != "" {
		h.reason += " (" + said + ")"
	}
	if st.Held != "" {
		h.reason += ", paused by guardrail " + st.Held
		if st.Blind {
			h.answer = analyze.CouldNotRun
		}
	}
	return h
}

// lastSaid is what a run said last of what it is at; "" if it said nothing.
func lastSaid(ctx context.Context, r *runner, run string) string {
	var s journal.Summary
	if is, err := r.runs.service.Store.Run(ctx, run); err != nil || is.Summary == nil || json.Unmarshal(is.Summary, &s) != nil {
		return ""
	}
	return s.Detail
}

// leave is how a run stands that the trial looks after no more. One that has not come to a good end keeps its cluster, which
// ends with a trial that made it; from one that was there before it is taken, since nobody can go on with the run.
func (r *runner) leave(ctx context.Context, x *execution) (*journal.State, error) {
	ctx = context.WithoutCancel(ctx)
	st, err := r.runs.service.State(ctx, x.id)
	if err != nil || r.trial.Existing == nil || st.Outcome != journal.RunFailed && st.Outcome != "" {
		return st, err
	}
	r.observe(progress.Stage{Doing: progress.Stopping, Detail: "the run of " + x.call.Name() + " is being abandoned", Share: -1})
	switch outcome, err := giveRunUp(ctx, r, x, st.Outcome == ""); {
	case err != nil:
		r.note("The run of %s may still hold the lock of %s (%v): check whether the work that it began is still running there; %s --break-lock REASON takes over the lock.", x.call.Name(), r.trial.Existing.Name, err, r.trial.Command)
	case st.Events == 0: // nothing was done
	case outcome != journal.RunCancelled:
		r.note("The run of %s ended only after the trial: %s.", x.call.Name(), outcome)
	default:
		r.note("The run of %s was abandoned. What its steps did to %s stays done; runs/%s.json lists it.", x.call.Name(), r.trial.Existing.Name, x.id)
	}
	return st, nil
}

// giveRunUp cancels a run: by a word if it is under way, and by a session for that if it is not, or did not hear it. One that comes to
// a good end of its own before it hears that has given its cluster back.
func giveRunUp(ctx context.Context, r *runner, x *execution, underWay bool) (journal.Outcome, error) {
	const why = "the trial ends"
	limited, cancel := context.WithTimeoutCause(ctx, moment, fmt.Errorf("it had not ended after %s", moment))
	defer cancel()
	s := r.runs.service
	if underWay {
		if err := s.Tell(limited, x.id, journal.Message{Say: "cancel", Leave: why, Reason: why}); err != nil {
			return "", err
		}
		_ = r.runs.executor.Wait(limited, x.id) // its state says what came of it
	}
	st, err := s.State(ctx, x.id)
	if err != nil {
		return "", err
	}
	if st.Outcome != journal.RunFailed && st.Outcome != "" {
		return st.Outcome, nil
	}
	if limited.Err() != nil {
		return "", context.Cause(limited)
	}
	if err := s.Start(limited, r.runs.executor, x.id, journal.Command{Do: journal.DoCancel, Leave: why, Reason: why}); err != nil {
		return "", err
	}
	if err := r.runs.executor.Wait(limited, x.id); err != nil {
		return "", cmp.Or(context.Cause(limited), err)
	}
	if st, err = s.State(ctx, x.id); err != nil {
		return "", err
	}
	return st.Outcome, nil
}

// moment is how long what is under way may take to end when a trial does.
const moment = 30 * time.Second

// abortLoad stops executing: the trial ends with it. What acts is given a moment to end.
func (r *runner) abortLoad(ctx context.Context, x *execution, h *abort) (*abort, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.trial.Existing != nil {
		return h, nil // it is given up
	}
	r.runs.executor.Drain()
	limited, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	_ = r.runs.executor.Wait(limited, x.id) // if it goes on, it ends with its cluster
	return h, nil
}
