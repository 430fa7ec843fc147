package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/runbook/journal"
)

// diskTry is one run of a runbook that is killed again and again, and what came of it.
type diskTry struct {
	What     string         `json:"what"`
	Runs     int            `json:"runs"`
	Kills    int            `json:"kills"`
	Undos    int            `json:"undo_kills"`
	ByHand   int            `json:"by_hand,omitempty"` // starts of the server by the person, as an undo had advised
	Moments  []string       `json:"moments,omitempty"`
	Ends     map[string]int `json:"ends"`
	Looks    int            `json:"looks"`
	Compared int64          `json:"bytes_compared"`
	Troubles []string       `json:"troubles,omitempty"`
	Calls    []said         `json:"calls,omitempty"`

	d      *disks
	c      diskCase
	book   string
	home   home
	ledger *ledger
	events []journal.Event // of the run, when it has ended
}

func (t *diskTry) trouble(format string, args ...any) {
	t.Troubles = append(t.Troubles, fmt.Sprintf(format, args...))
}

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

// attack kills the runs of a runbook at all moments of their journals.
func (d *disks) attack(ctx context.Context, c diskCase, until time.Time, keep func(disksResult) error) (res disksResult, err error) {
	res = disksResult{Runbook: c.book, At: time.Now().UTC().Truncate(time.Second), Ends: map[string]int{}}
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
	defer func() {
		if err != nil {
			res.Untried = append(res.Untried, names(res.missed(all))...)
			err = errors.Join(err, keep(res))
		}
	}()
	spread := strides * d.oneIn
	for n := range spread {
		if n%d.oneIn != 0 {
			res.Untried = append(res.Untried, names(dealt(all, n, spread))...)
		}
	}
	var steps []string
	for _, e := range reference.events {
		if e.Kind == journal.Intended && !slices.Contains(steps, e.Step) {
			steps = append(steps, e.Step)
		}
	}
	res.Steps = len(steps)
	for n := range strides {
		if _, err := one(plan{what: fmt.Sprintf("killed, %d of %d", n+1, strides), kills: dealt(all, n*d.oneIn, spread)}); err != nil {
			return res, err
		}
	}
	if missed := res.missed(all); len(missed) > 0 { // the process that went on found the step done, or did not come there
		if _, err := one(plan{what: "killed where it was not yet", kills: missed}); err != nil {
			return res, err
		}
	}
	var undone *diskTry // of the undos, the one that undid the most
	deepest := ""
	for n, step := range slices.Backward(steps) {
		if undone != nil && n%d.oneIn != 0 {
			continue
		}
		t, err := one(plan{what: "undone in the middle of " + step, kills: []moment{{entry: "intended/" + step, after: true}}, undo: true})
		if err != nil {
			return res, err
		}
		if t != nil && undone == nil && t.Ends[string(journal.RunUndone)] > 0 {
			undone, deepest = t, step
		}
	}
	if undone != nil {
		all := momentsOf(afterStopping(undone.events))
		spread := undoStrides * d.oneIn
		for n := range spread {
			if n%d.oneIn != 0 {
				res.Untried = append(res.Untried, names(dealt(all, n, spread))...)
			}
		}
		for n := range undoStrides {
			p := plan{what: fmt.Sprintf("killed in its undo, %d of %d", n+1, undoStrides), kills: []moment{{entry: "acted/" + deepest, before: true}}, undo: true, undos: dealt(all, n*d.oneIn, spread)}
			if _, err := one(p); err != nil {
				return res, err
			}
		}
		res.Missed = append(res.Missed, names(res.missed(all))...)
	}
	res.Missed = append(names(res.missed(momentsOf(reference.events))), res.Missed...)
	return res, keep(res)
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

// afterStopping are the events of an undo.
func afterStopping(events []journal.Event) []journal.Event {
	for i, e := range events {
		if e.Kind == journal.Stopping {
			return events[i:]
		}
	}
	return nil
}

// try brings the lab to where the runbook begins, runs it as planned and looks at what stands.
func (d *disks) try(ctx context.Context, c diskCase, p plan, r *rand.Rand) (*diskTry, error) {
	d.tries++
	t := &diskTry{What: p.what, Ends: map[string]int{}, d: d, c: c, book: c.book, home: d.home}
	t.home.store = filepath.Join(d.work, fmt.Sprint("try-", d.tries))
	if err := c.begin(d, ctx); err != nil {
		return t, fmt.Errorf("bring the lab to where it begins: %w", err)
	}
	servers, err := d.lookup.serversOf(ctx)
	if err != nil {
		return t, err
	}
	t.ledger = newLedger(ctx, servers, d.lookup.writer(), int64(d.tries)*1e7+1)
	run, err := t.bring(ctx, p, r)
	if c.under != nil {
		err = errors.Join(err, d.calm(ctx))
	}
	t.ledger.close()
	if err != nil {
		return t, err
	}
	if run.over() {
		err = t.judge(ctx, run)
	}
	if len(t.Troubles) == 0 {
		t.Calls = nil
		return t, errors.Join(err, os.RemoveAll(t.home.store))
	}
	return t, err
}

// bring runs the runbook to an end, killed where it was planned.
func (t *diskTry) bring(ctx context.Context, p plan, r *rand.Rand) (run told, err error) {
	args := []string{"runbook", "run", t.book, "--cluster", t.d.lab, "--yes", "--json"}
	for _, in := range t.c.inputs(t.d) {
		args = append(args, "-i", in)
	}
	word, undoing, again, failed := resume, false, 0, 0
	for n := range 120 {
		left := &p.kills
		if undoing {
			left = &p.undos
		}
		s := t.call(ctx, cutAtFirst(*left, r), undoing, args...)
		if s.Hung || ctx.Err() != nil {
			t.trouble("hung: %s: %s", strings.Join(s.Args, " "), tail(s.Err))
			return run, ctx.Err()
		}
		if s.Killed {
			if at := cutWhere(*left, s); at >= 0 {
				t.Moments = append(t.Moments, (*left)[at].String())
				*left = slices.Delete(slices.Clone(*left), at, at+1)
			}
			t.Kills++
			if undoing {
				t.Undos++
			}
		}
		all, err := t.home.runs(ctx)
		if err != nil {
			return run, err
		}
		if len(all) == 0 {
			if !s.Killed || n > 5 {
				t.trouble("%s was refused: code %d: %s", t.book, s.Code, tail(s.Err))
				return run, nil
			}
			rest(ctx, disksLease)
			continue
		}
		run, t.Runs = all[0], 1
		if wrong := wrongCode(run, word, s, false); wrong != "" {
			t.trouble("%s", wrong)
		}
		if s.Killed && run.over() {
			if back := t.home.call(ctx, nil, 0, nil, speak(resume, run.Run)...); back.Code != 2 {
				t.trouble("resume of %s, which is %s: code %d, not 2: %s", run.Run, run.Status, back.Code, tail(back.Err))
			}
		}
		if run.over() {
			t.Ends[run.Status]++
			return run, t.read(ctx, run)
		}
		if err := t.approve(ctx, run); err != nil {
			return run, err
		}
		stuck := stuckIn(t.events)
		if again++; stuck.Step == "" || s.Killed {
			again = 0
		}
		if failed++; undoing || s.Killed {
			failed = 0
		}
		switch {
		case failed > 5:
			t.trouble("%s does not go on: run %s is %s: %s", t.book, run.Run, run.Status, tail(s.Err))
			return run, nil
		case again > 3:
			t.trouble("the undo of %s does not come past step %s: %s", run.Run, stuck.Step, stuck.Error)
			return run, nil
		case stuck.Lasts: // what was done stays: the way is forward from there
			word, undoing, p.undo = resume, false, false
			args = []string{"runbook", "rerun", run.Run, "--step", stuck.Step, "--downstream", "--reason", "attack", "--json"}
			continue
		case stuck.Step == "stop" && len(t.d.nodes) > 1 && !s.Killed:
			// Whether the spare machine, which does not answer, took the place of the node is for a person to know: it did not.
			t.ByHand++
			if err := t.d.do(ctx, "start.yaml", onNode(t.d)...); err != nil {
				return run, err
			}
			word = undo
		case stuck.Step != "": // it is tried again
			word = undo
		case undoing && !s.Killed: // it is refused, for what was done cannot be undone: the way is forward
			word, undoing, p.undo = resume, false, false
		case undoing: // either goes on with the undo
			word = []way{undo, resume}[r.IntN(2)]
		case p.undo && s.Killed:
			word, undoing = undo, true
		}
		args = speak(word, run.Run)
	}
	t.trouble("%s came to no end: run %s is %s", t.book, run.Run, run.Status)
	return run, nil
}

// stuckIn is the last event, if it says that a step could not be undone and nothing was tried since.
func stuckIn(events []journal.Event) (e journal.Event) {
	for _, next := range events {
		switch next.Kind {
		case journal.Stuck:
			e = next
		case journal.Undoing, journal.Opened:
			e = journal.Event{}
		}
	}
	return e
}

// call is a command of the attack, killed where that is planned. What happens under the run begins soon after the command.
func (t *diskTry) call(ctx context.Context, at *cut, undoing bool, args ...string) said {
	done := make(chan error, 1)
	switch {
	case t.c.under != nil && undoing:
		done <- t.d.calm(ctx)
	case t.c.under != nil:
		limited, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			rest(limited, soon)
			done <- t.c.under(t.d, limited)
		}()
	default:
		done <- nil
	}
	s := t.home.call(ctx, at, 0, nil, args...)
	if err := <-done; err != nil && ctx.Err() == nil {
		t.trouble("%v", err)
	}
	t.Calls = append(t.Calls, s)
	if strings.Contains(s.Err, "goroutine ") && !s.Hung {
		t.trouble("panic in %s: %s", strings.Join(args, " "), s.Err)
	}
	return s
}

// approve agrees to what the run asks, if its process was killed before somebody could.
func (t *diskTry) approve(ctx context.Context, run told) error {
	if err := t.read(ctx, run); err != nil {
		return err
	}
	asks := map[string]bool{}
	for _, e := range t.events {
		switch e.Kind {
		case journal.Asked:
			asks[e.Step] = true
		case journal.Approved, journal.Verified:
			asks[e.Step] = false
		}
	}
	for step, open := range asks {
		if open {
			t.Calls = append(t.Calls, t.home.call(ctx, nil, 0, nil, "runbook", "approve", run.Run, "--step", step, "--yes"))
		}
	}
	return nil
}

// read takes in the run's journal.
func (t *diskTry) read(ctx context.Context, run told) error {
	entries, err := t.home.entries(ctx, run.Run)
	if err != nil {
		return err
	}
	t.events = nil
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("read the journal of %s, entry %d: %w", run.Run, entry.Number, err)
		}
		t.events = append(t.events, e)
	}
	return nil
}
