package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// cutAtFirst has a process killed at the first of these that it comes to; nil: nowhere.
func cutAtFirst(all []moment, r *rand.Rand) *cut {
	var cuts []cut
	for _, m := range all {
		c := cut{Entry: m.entry, Before: m.before}
		if m.after {
			c.Delay = time.Duration(20+r.IntN(1200)) * time.Millisecond
		}
		cuts = append(cuts, c)
	}
	if len(cuts) == 0 {
		return nil
	}
	cuts[0].Or = cuts[1:]
	return &cuts[0]
}

// cutWhere is which of these it was, as the process said before it died; -1: none of them.
func cutWhere(all []moment, s said) int {
	for line := range strings.Lines(s.Err) {
		said, is := strings.CutPrefix(strings.TrimSpace(line), "torture: cut off at ")
		parts := strings.Split(said, ":")
		if !is || len(parts) != 3 {
			continue
		}
		return slices.IndexFunc(all, func(m moment) bool {
			return m.entry == parts[0] && fmt.Sprint(m.before) == parts[1] && m.after == (parts[2] != "0s")
		})
	}
	return -1
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
