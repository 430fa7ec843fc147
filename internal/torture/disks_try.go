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
	if !run.over() {
		return t, nil
	}
	if d.last.home.store != "" {
		if err := os.RemoveAll(d.last.home.store); err != nil {
			return t, fmt.Errorf("remove what is kept of the try before: %w", err)
		}
	}
	d.last = endedRun{home: t.home, run: run.Run}
	if err := t.judge(ctx, run); err != nil {
		return t, err
	}
	if len(t.Troubles) == 0 {
		t.Calls = nil
	} else {
		d.last = endedRun{} // its store is for whoever reads of the troubles
	}
	return t, nil
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
				if undoing || !t.d.undosOnly {
					t.Moments = append(t.Moments, (*left)[at].String())
				}
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
			t.release(ctx, run)
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

// release resumes a run whose process was killed after its end, so that its cluster is given back. The server may just have been restarted:
// the message then advises to resume it again. One that is to stand still keeps the claim until it runs again, which the command says.
func (t *diskTry) release(ctx context.Context, run told) {
	var back said
	for range 5 {
		if back = t.home.call(ctx, nil, 0, nil, speak(resume, run.Run)...); back.Code != 1 {
			break
		}
		rest(ctx, disksLease)
	}
	layout := t.c.after(run.Status == string(journal.RunDone), t.events)
	stays := (layout == waiting || layout == retired) && back.Code == 1 && strings.Contains(back.Err, "the claim of the ended run could not be removed")
	if back.Code != 2 && !stays {
		t.trouble("resume of %s, which is %s: code %d, not 2: %s", run.Run, run.Status, back.Code, tail(back.Err))
	}
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
