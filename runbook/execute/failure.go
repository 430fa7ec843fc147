package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// finalError is one that no further attempt can mend.
type finalError struct {
	error
	asks   bool   // a person must look how things stand
	advice string // what to do about it
}

func (e finalError) Unwrap() error { return e.error }

// repeats is what to do about a step that was cut off in its middle and cannot simply be repeated, while its run has not ended.
const repeats = "check the cluster, then plimsoll runbook resume RUN repeats it"

// openError is the failure of an act that may still be under way: it was cut off, or the one who does it was lost.
type openError struct{ error }

func (e openError) Unwrap() error { return e.error }

// notBegun is an act that was intended and then not begun.
type notBegun struct{ error }

func (e notBegun) Unwrap() error { return e.error }

// unfinished judges the error of an act: one that lost its connection or its time may have left something going on.
func unfinished(ctx context.Context, err error, n action.Traits) error {
	if nothing := (action.NothingDone{}); errors.As(err, &nothing) || ctx.Err() == nil && !unreachable(err) {
		return err
	}
	err = openError{explain(ctx, err)}
	if n.Repeatable {
		return err
	}
	return finalError{fmt.Errorf("%w; Plimsoll cannot tell how far it got, and it is not safe to repeat", err), true, repeats}
}

// unreachable tells whether a database could not be asked, or was lost while it was.
func unreachable(err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && (e.Lost || e.Kind == engine.Timeout || e.Kind == engine.Unavailable)
}

// failureEvent is the event of a failed attempt. An undo that failed leaves the step stuck; a cluster that is not healthy
// ends the run.
func failureEvent(r *runner, res result) *journal.Event {
	text := journal.OfRun(journal.OneLine(res.err), r.journal.Run())
	i := r.state.Item(res.key)
	if i == nil {
		return &journal.Event{Kind: journal.Ended, Outcome: journal.RunFailed, Reason: "before " + res.key + ": " + runbook.FirstLine(text)}
	}
	if i.Phase == journal.StepUndoing {
		var lasts lastingError
		e := &journal.Event{Kind: journal.Stuck, Step: i.Key, Error: text, Lasts: errors.As(res.err, &lasts)}
		if refusal := (*hint.PermanentError)(nil); errors.As(res.err, &refusal) {
			e.Note = advised(r, refusal.Advice)
		}
		return e
	}
	e := &journal.Event{Kind: journal.Failed, Step: i.Key, Attempt: i.Attempt, Error: text, Class: string(classOf(res.err))}
	if errors.Is(res.err, cluster.ErrNoNode) {
		e.Cause = journal.BadInputs
	}
	var open openError
	e.Open = errors.As(res.err, &open)
	var nothing action.NothingDone
	e.Nothing = errors.As(res.err, &nothing) && i.Phase == journal.StepActing
	var final finalError
	var refusal *hint.PermanentError
	if errors.As(res.err, &final) {
		e.Final, e.Asks, e.Note = true, final.asks, advised(r, final.advice)
	}
	if errors.As(res.err, &refusal) {
		e.Final, e.Note = true, advised(r, cmp.Or(refusal.Advice, final.advice))
	}
	if engine.ClassOf(res.err) == engine.Denied && i.Step.Retry.If == "" { // no further attempt is let do what this one was not
		e.Final, e.Note = true, cmp.Or(e.Note, hint.Of(res.err))
	}
	if e.Final || i.Failures >= i.Step.Retry.Max || !retryable(r, i, e) {
		e.Final = true
		return e
	}
	e.Until = time.Now().Add(i.Step.Retry.Backoff.Wait(i.Failures + 1))
	return e
}

// classOf is the class of a failure. A command that a shell did not find, or could not execute, is missing, as a table is.
func classOf(err error) engine.Class {
	var exit *infra.ExitError
	if errors.As(err, &exit) && (exit.Status == 126 || exit.Status == 127) {
		return engine.Missing
	}
	return engine.ClassOf(err)
}

// advised is what an action advises, with the commands that it names whole: an action knows neither its run nor how its cluster is called.
func advised(r *runner, text string) string {
	return plan.OfRun(journal.OfRun(text, r.journal.Run()), r.state.Header, r.state.Book)
}

func retryable(r *runner, i *journal.Step, e *journal.Event) bool {
	if i.Step.Retry.If == "" {
		return true
	}
	env := r.state.Env(i)
	env["error"] = map[string]any{"text": e.Error, "class": e.Class}
	ok, err := r.state.Book.Truth(i.Step.Retry.If, env)
	return err == nil && ok
}
