package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook"
)

// execute executes a run's next stint here, or follows it where another process of this state folder executes. Without an
// order it only follows or goes on with what was interrupted.
func execute(ctx context.Context, c console, d *desk, run string, order *runbook.Order, asJSON bool) error {
	show := eventPrinter(c.err, run)
	if asJSON {
		show = func(e runbook.Event, at time.Time) {
			_ = json.NewEncoder(c.out).Encode(map[string]any{"at": at, "event": e})
		}
	}
	d.Observe = func(r string, e runbook.Event, at time.Time) {
		if r == run {
			show(e, at)
		}
	}
	if d.tortured {
		defer d.ApproveAll(ctx)()
	}
	tick := time.NewTicker(time.Second) // how often the lock is tried
	defer tick.Stop()
	for waiting := false; ; waiting = true {
		e, err := d.Execute(ctx)
		if err == nil {
			return stint(ctx, c, d, e, run, order, asJSON)
		}
		if !errors.Is(err, durable.ErrBusy) {
			return err
		}
		if !waiting {
			fmt.Fprintln(c.err, "another plimsoll executes runs here; waiting for it")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// stint executes until the run's stint has ended.
func stint(ctx context.Context, c console, d *desk, e *durable.Executor, run string, order *runbook.Order, asJSON bool) error {
	background := context.WithoutCancel(ctx)
	continued := false
	for _, r := range e.Continued() {
		fmt.Fprintf(c.err, "run %s goes on where its process died\n", r)
		continued = continued || r == run
	}
	if !continued && order != nil {
		if err := d.Start(background, e, run, *order); err != nil {
			return errors.Join(err, e.Close(background))
		}
	}
	stop := context.AfterFunc(ctx, func() {
		fmt.Fprintln(c.err, "stopping: what acts now may end, nothing else begins (Ctrl-C again ends it at once)")
		e.Drain()
	})
	defer stop()
	err := errors.Join(e.Wait(background, run), e.Close(background))
	return errors.Join(err, conclude(background, c, d, run, asJSON, ctx.Err()))
}

// conclude says how the run stands and what can be done.
func conclude(ctx context.Context, c console, d *desk, run string, asJSON bool, interrupted error) error {
	st, err := d.State(ctx, run)
	if err != nil {
		return err
	}
	if asJSON {
		if err := jsonTo(c, statusOf(run, st, runbook.Summary{})); err != nil {
			return err
		}
	}
	switch {
	case st.Outcome == runbook.Done || st.Outcome == runbook.TakenBack || st.Outcome == runbook.Cancelled:
		fmt.Fprintf(c.err, "run %s: %s\n", run, st.Outcome)
		return nil
	case st.Outcome == runbook.Broken:
		return runError{run, st}
	case interrupted != nil:
		fmt.Fprintf(c.err, "run %s is parked at %s; it keeps its cluster. plimsoll runbook resume %s goes on, cancel gives up\n", run, st.Position(), run)
		return interrupted
	}
	fmt.Fprintf(c.err, "run %s is parked: %s. plimsoll runbook resume %s goes on, cancel gives up\n", run, st.Why, run)
	return withCode{exitTrouble}
}

// runError is a run that failed.
type runError struct {
	run   string
	state *runbook.State
}

func (e runError) Error() string {
	for _, i := range e.state.Items {
		if i.Phase == runbook.Dead {
			return fmt.Sprintf("run %s failed at step %s: %s", e.run, i.Key, i.Error)
		}
	}
	return fmt.Sprintf("run %s failed: %s", e.run, e.state.Why)
}

func (e runError) Hint() string {
	return fmt.Sprintf("what was done stands, and the cluster stays locked: mend it and plimsoll runbook resume %s, or cancel %s --undo", e.run, e.run)
}

// eventPrinter prints the events that matter to a person.
func eventPrinter(w io.Writer, run string) func(runbook.Event, time.Time) {
	return func(e runbook.Event, at time.Time) {
		text := ""
		switch e.Kind {
		case runbook.Checked:
			text = "checked: " + string(e.Finding.State)
			if e.Finding.Reason != "" {
				text += " (" + e.Finding.Reason + ")"
			}
		case runbook.Intended:
			text = fmt.Sprintf("acting, attempt %d", e.Attempt)
		case runbook.Verified:
			text = "done"
		case runbook.Failed:
			text = "failed: " + e.Error
			if !e.Until.IsZero() {
				text += fmt.Sprintf("; again in %s", time.Until(e.Until).Round(time.Second))
			}
		case runbook.Asked:
			note := e.Note
			if e.Caution != "" {
				note = e.Caution
			}
			text = fmt.Sprintf("waits for approval until %s: %s\n         plimsoll runbook approve %s --step '%s'", e.Until.Local().Format(time.DateTime), note, run, e.Step)
		case runbook.Approved:
			text = "approved by " + e.By
		case runbook.Held:
			text = "held by guardrail " + e.Reason
		case runbook.Freed:
			text = "goes on: the guardrail holds again"
		case runbook.Undone:
			text = "undone"
		case runbook.Stuck:
			text = "cannot be undone: " + e.Error
		case runbook.Said:
			text = e.Reason
		case runbook.Valued:
			if e.Skip {
				text = "skipped"
			}
		}
		if text != "" {
			fmt.Fprintf(w, "%s %s %s\n", at.Local().Format(time.TimeOnly), e.Step, text)
		}
	}
}
