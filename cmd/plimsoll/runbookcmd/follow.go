package runbookcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/runbook/journal"
)

// follower shows a run to whoever began it or looks on: its events as they are written, and how far it is.
type follower struct {
	service *runs.Service
	run     string
	line    *console.LiveLine
	json    *json.Encoder // nil: for people
	seen    int           // entries of others that were shown
	ended   bool
	began   time.Time

	word *journal.Message // to be said if another process begins to execute the run while this one waits for its turn; nil: none
	told bool
}

func newFollower(c console.Streams, d *runs.Service, run string, asJSON bool) *follower {
	f := &follower{service: d, run: run, line: console.NewLiveLine(c), began: time.Now()}
	if asJSON {
		f.json, f.line.IsTerminal = json.NewEncoder(c.Out), false
	}
	return f
}

// event shows one event.
func (f *follower) event(e journal.Event, at time.Time) {
	if f.json != nil {
		_ = f.json.Encode(map[string]any{"at": at, "event": e})
		return
	}
	if text := e.Text(); text != "" {
		if e.Step != "" {
			text = e.Step + " " + text
		}
		if e.Kind == journal.Asked {
			text += "\n         " + strings.ReplaceAll(f.answer(e.Step), "\n", "\n         ")
		}
		f.line.Say(at.Local().Format(time.TimeOnly) + " " + text)
	}
}

// answer is how a step is approved, for who began the run: where another person has to, how that one does.
func (f *follower) answer(step string) string {
	command := fmt.Sprintf("plimsoll runbook approve %s --step %s", f.run, hint.Quoted(step))
	st, err := f.service.State(context.Background(), f.run)
	if err != nil {
		return command
	}
	if i := st.Item(step); i != nil && journal.ByAnother(st, i) {
		return howAnother(f.run, st, step)
	}
	return command
}

// howAnother is how another person than who began a run approves a step of it.
func howAnother(run string, st *journal.State, step string) string {
	return journal.OfRun(journal.HowAnother(st, step), run)
}

// wait takes the right to execute runs here. While another process has it, it shows what that one does with the run; there is
// nothing to execute, and no executor, once the run has ended. Runs that are to get another order instead are not gone on with.
func (f *follower) wait(ctx context.Context, instead ...string) (*durable.Executor, error) {
	defer f.line.Clear()
	tick := time.NewTicker(time.Second) // how often the lock is tried
	defer tick.Stop()
	for waiting := false; ; waiting = true {
		e, err := f.service.Execute(ctx, instead...)
		if err == nil || !errors.Is(err, durable.ErrBusy) {
			if waiting && err == nil {
				err = f.catchUp(ctx)
			}
			return e, err
		}
		if !waiting {
			f.line.Say("waiting for another plimsoll process, which is executing a run here")
			if err := f.skip(ctx); err != nil {
				return nil, err
			}
		}
		if err := f.catchUp(ctx); err != nil || f.ended {
			return nil, err
		}
		if err := f.speak(ctx); err != nil {
			return nil, err
		}
		f.show(ctx)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// speak says the word to a process that has begun to execute the run, once.
func (f *follower) speak(ctx context.Context) error {
	if f.word == nil || f.told {
		return nil
	}
	executed, _, err := f.service.Executed(ctx, f.run)
	if err != nil || !executed {
		return err
	}
	f.told = true
	return f.service.Tell(ctx, f.run, *f.word)
}

// skip passes over what was written before.
func (f *follower) skip(ctx context.Context) error {
	entries, err := f.service.Store.Entries(ctx, f.run)
	f.seen = len(entries)
	return err
}

// catchUp shows the events that another process wrote since the last look.
func (f *follower) catchUp(ctx context.Context) error {
	entries, err := f.service.Store.Entries(ctx, f.run)
	if err != nil {
		return err
	}
	for _, entry := range entries[min(f.seen, len(entries)):] {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("read entry %d: %w", entry.Number, err)
		}
		switch e.Kind { // after its end a run may still say something
		case journal.Opened:
			f.ended = false
		case journal.Ended:
			f.ended = f.word == nil || e.Outcome != journal.RunFailed // which can be given up still
		}
		f.event(e, entry.At)
	}
	f.seen = max(f.seen, len(entries))
	return nil
}

// progress shows how far the run is, until ctx ends.
func (f *follower) progress(ctx context.Context) {
	defer f.line.Clear()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.show(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (f *follower) show(ctx context.Context) {
	r, err := f.service.Store.Run(ctx, f.run)
	var s journal.Summary
	if err == nil && r.Summary != nil && json.Unmarshal(r.Summary, &s) == nil {
		f.line.Show(howFar(s, r.Told))
	}
}

// howFar is one line: how much is done, how long it may take still, and what is under way.
func howFar(s journal.Summary, told time.Time) string {
	text := fmt.Sprintf("%.0f %%", 100*s.Share)
	if left := s.Left - time.Since(told); s.Left > 0 && s.Status == "running" {
		text += ", about " + console.Roughly(max(left, time.Second).Round(time.Second)) + " left"
	}
	switch {
	case s.Reason != "":
		text += " · " + journal.InWords(s.Status) + ": " + s.Reason
	case s.Status == "asking" && s.Position != "":
		text += " · waits for approval at " + s.Position
	case s.Detail != "":
		text += " · " + s.Detail
	case s.Position != "":
		text += " · " + s.Position
	}
	return text
}
