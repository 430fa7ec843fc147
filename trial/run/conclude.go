package run

import (
	"context"
	"errors"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/result"
	"plimsoll/trial/judge"
)

// conclusion gives the verdict on what was measured until the trial came to its end, or was cut off by an error.
func conclusion(r *runner, cut error) result.Verdict {
	r.doubtGenerator()
	for _, note := range judge.LeftOut(r.trial, &r.recording) {
		r.note("%s", note)
	}
	c := judge.Course{Ended: endedBy(r, cut), Partial: cut != nil || r.aborted != nil, Invalid: r.invalid, Already: r.already, Unchanged: r.unchanged, Notes: r.notes}
	if !r.trial.CountsOnly() {
		c.Advice = r.doubts.advice()
	}
	if r.aborted != nil {
		c.Answer, c.Reason = r.aborted.answer, r.aborted.reason
	}
	return judge.Verdict(r.trial, &r.recording, c)
}

// endedBy is how a trial ended before its end: a person interrupted it, or something that it needs was missing or wrong. It is nil of
// one that came to its end, or whose change answered the question by failing.
func endedBy(r *runner, cut error) *result.Ended {
	switch {
	case errors.Is(cut, context.Canceled):
		return &result.Ended{How: result.Interrupted, Where: r.at}
	case cut != nil:
		return &result.Ended{How: result.CouldNotRun, Where: r.at, Why: cut.Error(), Do: hint.Of(cut)}
	case r.aborted != nil && r.aborted.answer == analyze.CouldNotRun:
		return &result.Ended{How: result.CouldNotRun, Where: r.at, Why: r.aborted.reason, Do: r.aborted.advice}
	}
	return nil
}
