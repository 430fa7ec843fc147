package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"plimsoll/runbook/journal"
)

// plan is what is done to a run: where its process is killed, one place after the other; whether it is undone then, and where the
// process that undoes it is killed.
type plan struct {
	what  string
	kills []moment
	undo  bool
	undos []moment
}

// How many runs the moments of a journal are dealt out to, and those of an undo.
const (
	strides     = 2
	undoStrides = 2
)

// attack kills the runs of a runbook at all moments of their journals, or, with d.undosOnly, at those of their undo alone.
func (d *disks) attack(ctx context.Context, c diskCase, until time.Time, keep func(disksResult) error) (res disksResult, err error) {
	res = disksResult{Runbook: c.book, UndoOnly: d.undosOnly, At: time.Now().UTC().Truncate(time.Second), Ends: map[string]int{}}
	r := rand.New(rand.NewPCG(16, uint64(len(c.book)))) //nolint:gosec // delays in the middle of acts, not secrets
	kernel, err := d.machines[d.at].sh(ctx, "uname -r")
	if err != nil {
		return res, err
	}
	res.Kernel = kernel
	// one makes a try, unless the time is over; a lab that cannot be brought back to where it begins is made anew.
	one := func(p plan) (*diskTry, error) {
		if time.Now().After(until) || ctx.Err() != nil {
			for _, m := range slices.Concat(p.kills, p.undos) {
				res.Untried = append(res.Untried, m.String())
			}
			return nil, ctx.Err()
		}
		t, err := d.try(ctx, c, p, r)
		if err != nil {
			return t, fmt.Errorf("%s: %w", p.what, err)
		}
		res.add(t)
		res.Took = time.Since(res.At)
		fmt.Fprintf(os.Stderr, "%s\n", t.line())
		return t, keep(res)
	}
	reference, err := one(plan{what: "undisturbed"})
	if err != nil || reference == nil {
		return res, err
	}
	all := momentsOf(reference.events)
	if d.undosOnly {
		all = nil
	}
	defer func() {
		if err != nil {
			res.Untried = append(res.Untried, names(res.missed(all))...)
			err = errors.Join(err, keep(res))
		}
	}()
	steps := stepsOf(reference.events)
	res.Steps = len(steps)
	if len(all) > 0 {
		if err := attackForward(d.disksOptions, all, &res, one); err != nil {
			return res, err
		}
	}
	undone, deepest, err := undoEach(d.disksOptions, steps, one)
	if err != nil {
		return res, err
	}
	if undone != nil {
		undoing := momentsOf(undoOf(undone.events))
		if len(undoing) == 0 {
			return res, fmt.Errorf("find where the undo of %s can be killed: its journal has no cancellation", c.book)
		}
		if err := attackUndo(d.disksOptions, undoing, c.interrupted(deepest), &res, one); err != nil {
			return res, err
		}
		all = append(slices.Clip(all), undoing...)
	}
	res.Missed = names(res.missed(all))
	return res, keep(res)
}

// stepsOf are the steps that acted, in their order.
func stepsOf(events []journal.Event) (steps []string) {
	for _, e := range events {
		if e.Kind == journal.Intended && !slices.Contains(steps, e.Step) {
			steps = append(steps, e.Step)
		}
	}
	return steps
}

// attackForward kills runs that go forward at all of these moments.
func attackForward(o disksOptions, all []moment, res *disksResult, one func(plan) (*diskTry, error)) error {
	for n, some := range deal(o, all, strides, res) {
		if _, err := one(plan{what: fmt.Sprintf("killed, %d of %d", n+1, strides), kills: some}); err != nil {
			return err
		}
	}
	if missed := res.missed(all); len(missed) > 0 { // the process that went on found the step done, or did not come there
		if _, err := one(plan{what: "killed where it was not yet", kills: missed}); err != nil {
			return err
		}
	}
	return nil
}

// undoEach interrupts runs in the middle of each step, from the last to the first, and has them undone. It returns the run that undid the
// most, and the step at which it was interrupted; nil if none can be undone.
func undoEach(o disksOptions, steps []string, one func(plan) (*diskTry, error)) (undone *diskTry, deepest string, err error) {
	for n, step := range slices.Backward(steps) {
		if undone != nil && (o.undosOnly || n%o.oneIn != 0) {
			continue
		}
		t, err := one(plan{what: "undone in the middle of " + step, kills: []moment{{entry: "intended/" + step, after: true}}, undo: true})
		if err == nil && t != nil && t.Kills == 0 { // the act is so short that the run had ended
			t, err = one(plan{what: "undone at the end of " + step, kills: []moment{{entry: "acted/" + step, before: true}}, undo: true})
		}
		if err != nil {
			return undone, deepest, err
		}
		if t != nil && undone == nil && t.Ends[string(journal.RunUndone)]+t.Ends[journal.UndoneWithRemainders] > 0 {
			undone, deepest = t, step
		}
	}
	return undone, deepest, nil
}

// attackUndo kills the undo of a run that was interrupted there, at all of these moments.
func attackUndo(o disksOptions, all []moment, interrupted moment, res *disksResult, one func(plan) (*diskTry, error)) error {
	for n, some := range deal(o, all, undoStrides, res) {
		p := plan{what: fmt.Sprintf("killed in its undo, %d of %d", n+1, undoStrides), kills: []moment{interrupted}, undo: true, undos: some}
		if _, err := one(p); err != nil {
			return err
		}
	}
	return nil
}

// deal deals moments out to so many runs. Of oneIn moments, one is attacked, and the others are named as not tried.
func deal(o disksOptions, all []moment, runs int, res *disksResult) (dealtOut [][]moment) {
	spread := runs * o.oneIn
	for n := range spread {
		some := dealt(all, n, spread)
		if n%o.oneIn == 0 {
			dealtOut = append(dealtOut, some)
			continue
		}
		res.Untried = append(res.Untried, names(some)...)
	}
	return dealtOut
}

// missed are the moments at which nothing was killed.
func (r *disksResult) missed(all []moment) (some []moment) {
	for _, m := range all {
		if !slices.Contains(r.Moments, m.String()) && !slices.Contains(r.Untried, m.String()) {
			some = append(some, m)
		}
	}
	return some
}

func names(all []moment) (texts []string) {
	for _, m := range all {
		texts = append(texts, m.String())
	}
	return texts
}

// undoOf are the events of an undo: from the cancellation on, which a process that runs writes as such, and one that goes on with a run as
// the order it was begun with.
func undoOf(events []journal.Event) []journal.Event {
	for i, e := range events {
		if e.Kind == journal.Stopping || e.Kind == journal.Opened && e.Order != nil && e.Order.Undo {
			return events[i:]
		}
	}
	return nil
}
