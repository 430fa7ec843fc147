package main

import (
	"math/rand/v2"
	"strings"
	"time"

	"plimsoll/runbook/journal"
)

// moment is where a process is killed: at an entry of that kind and step, just before it, or a while after it.
type moment struct {
	entry  string // kind/step, such as acted/stop
	before bool
	after  bool // somewhere in the act or the undo that it begins
}

func (m moment) String() string {
	kind, step, _ := strings.Cut(m.entry, "/")
	text := strings.TrimSpace(kind + " " + step)
	switch {
	case m.before:
		return "before " + text
	case m.after:
		return "in " + text
	}
	return text
}

// cut has a process killed there.
func (m moment) cut(r *rand.Rand) *cut {
	c := &cut{Entry: m.entry, Before: m.before}
	if m.after {
		c.Delay = time.Duration(20+r.IntN(1200)) * time.Millisecond
	}
	return c
}

// momentsOf are the moments of a run of which this is the journal, in their order: at every entry, just before those that say that
// something was done, and in the middle of every act and undo.
func momentsOf(events []journal.Event) (all []moment) {
	seen := map[string]bool{}
	for _, e := range events {
		entry := string(e.Kind) + "/" + e.Step
		if seen[entry] || e.Kind == journal.Began || e.Kind == journal.Said || e.Kind == journal.Approved {
			continue // there is no run before it began; a person's words come when they come
		}
		seen[entry] = true
		switch e.Kind {
		case journal.Acted, journal.Undone, journal.Ended:
			all = append(all, moment{entry: entry, before: true}, moment{entry: entry})
		case journal.Intended, journal.Undoing:
			all = append(all, moment{entry: entry}, moment{entry: entry, after: true})
		default:
			all = append(all, moment{entry: entry})
		}
	}
	return all
}

// dealt is every nth of these moments: so many apart, the process that goes on comes to the next one.
func dealt(all []moment, n, of int) (some []moment) {
	for i, m := range all {
		if i%of == n {
			some = append(some, m)
		}
	}
	return some
}
