package main

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/runbook/books"
	"plimsoll/runbook/journal"
)

// Every runbook of Super Disks is attacked, once.
func TestEveryRunbookOfSuperDisksIsAttacked(t *testing.T) {
	var attacked, ship []string
	for _, group := range diskCases {
		for _, c := range group {
			attacked = append(attacked, c.book)
		}
	}
	for _, name := range books.Names() {
		if strings.HasPrefix(name, "superdisk/") {
			ship = append(ship, name)
		}
	}
	slices.Sort(attacked)
	slices.Sort(ship)
	if !slices.Equal(attacked, ship) || len(ship) == 0 {
		t.Errorf("attacked are %v, and %v ship", attacked, ship)
	}
}

// A run is killed at every entry of its journal, just before the end of what was done is written, and in the middle of it. Dealt out to
// several runs, none of these places is lost.
func TestThePlacesOfAJournal(t *testing.T) {
	var events []journal.Event
	for _, e := range []struct {
		kind journal.Kind
		step string
	}{{journal.Began, ""}, {journal.Opened, ""}, {journal.Checked, "stop"}, {journal.Intended, "stop"}, {journal.Acted, "stop"}, {journal.Verified, "stop"}, {journal.Opened, ""}, {journal.Ended, ""}} {
		events = append(events, journal.Event{Kind: e.kind, Step: e.step, Output: action.Facts{}})
	}
	all := momentsOf(events)
	want := []string{"opened", "checked stop", "intended stop", "in intended stop", "before acted stop", "acted stop", "verified stop", "before ended", "ended"}
	if got := names(all); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var again []string
	for n := range strides {
		again = append(again, names(dealt(all, n, strides))...)
	}
	slices.Sort(again)
	slices.Sort(want)
	if !slices.Equal(again, want) {
		t.Errorf("dealt out: %q", again)
	}
	res := disksResult{Moments: want[1:]}
	if missed := names(res.missed(all)); !slices.Equal(missed, want[:1]) {
		t.Errorf("missed: %q, want %q", missed, want[:1])
	}
}

// An undo begins where somebody's cancellation stands in the journal: as such, or as the order with which another process went on with a run
// whose process had died. Its places are those of the undo alone.
func TestThePlacesOfAnUndo(t *testing.T) {
	forward := []journal.Event{{Kind: journal.Began}, {Kind: journal.Opened}, {Kind: journal.Intended, Step: "stop"}}
	undo := []journal.Event{{Kind: journal.Undoing, Step: "stop"}, {Kind: journal.Undone, Step: "stop"}, {Kind: journal.Ended}}
	places := []string{"undoing stop", "in undoing stop", "before undone stop", "undone stop", "before ended", "ended"}
	for want, cancelled := range map[string]journal.Event{
		"stopping": {Kind: journal.Stopping, Undo: true},
		"opened":   {Kind: journal.Opened, Order: &journal.Command{Do: "cancel", Undo: true}},
	} {
		events := slices.Concat(forward, []journal.Event{cancelled}, undo)
		if got := names(momentsOf(undoOf(events))); !slices.Equal(got, append([]string{want}, places...)) {
			t.Errorf("%s: the undo can be killed at %q", want, got)
		}
	}
	if resumed := append(forward, journal.Event{Kind: journal.Opened, Order: &journal.Command{Do: "resume"}}); undoOf(resumed) != nil {
		t.Error("a run that was resumed counts as undone")
	}
}

// Until the network leg serves alone on another machine, an undo brings both legs back into step.
func TestWhatAnUndoneMoveLeaves(t *testing.T) {
	moved := diskCase{done: localOnly, undone: whole, serves: "alone"}
	entry := func(kind journal.Kind, step string) journal.Event { return journal.Event{Kind: kind, Step: step} }
	for want, events := range map[layout][]journal.Event{
		whole:       {entry(journal.Intended, "attach"), entry(journal.Acted, "attach"), entry(journal.Undone, "attach")},
		either:      {entry(journal.Acted, "attach"), entry(journal.Intended, "alone"), entry(journal.Undone, "alone")},
		networkOnly: {entry(journal.Intended, "alone"), entry(journal.Acted, "alone"), entry(journal.Undone, "alone")},
	} {
		if got := moved.after(false, events); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if is := moved.leaves(want); is != (want != whole) {
			t.Errorf("%s: something may remain: %v", want, is)
		}
		if got := moved.after(true, events); got != localOnly {
			t.Errorf("done: got %q", got)
		}
	}
}

// An undo is attacked on a run that it can take back: a migration is not undone once the files are used on the array.
func TestAnUndoIsAttackedWhereItIsNotRefused(t *testing.T) {
	for lasts, want := range map[bool]string{false: "before acted move", true: "in intended move"} {
		if got := (diskCase{lasts: lasts}).interrupted("move").String(); got != want {
			t.Errorf("%v: a run is killed %s, want %s", lasts, got, want)
		}
	}
}

// An undo that a step refuses is not tried for ever.
// A step that is over before a process can be killed in its middle is killed before its end is recorded: nothing else would have it undone.
func TestAShortStepIsUndoneToo(t *testing.T) {
	var tried []string
	undone, deepest, err := undoEach(disksOptions{oneIn: 1}, []string{"detach"}, func(p plan) (*diskTry, error) {
		tried = append(tried, p.kills[0].String())
		if p.kills[0].before {
			return &diskTry{Kills: 1, Ends: map[string]int{string(journal.RunUndone): 1}}, nil
		}
		return &diskTry{Ends: map[string]int{string(journal.RunDone): 1}}, nil
	})
	if err != nil || undone == nil || deepest != "detach" {
		t.Errorf("tried %q: undone %v at %q, %v", tried, undone, deepest, err)
	}
}

func TestWhereAnUndoIsStuck(t *testing.T) {
	stuck := journal.Event{Kind: journal.Stuck, Step: "move", Lasts: true}
	events := []journal.Event{{Kind: journal.Undoing, Step: "move"}, stuck, {Kind: journal.Ended}}
	if got := stuckIn(events); got.Step != "move" || !got.Lasts {
		t.Errorf("got %+v", got)
	}
	if got := stuckIn(append(events, journal.Event{Kind: journal.Opened})); got.Step != "" {
		t.Errorf("it is tried again, and is stuck at %q", got.Step)
	}
}

// What was not done, and what was found, is on the page.
func TestTheTableOfDisks(t *testing.T) {
	text := disksTable([]disksResult{{
		Runbook: "superdisk/retire", Steps: 5, Runs: 7, Kills: 30, Undos: 4, Moments: []string{"opened", "acted stop"}, Missed: []string{"ended"}, Untried: []string{"undone stop"},
		Ends: map[string]int{"done": 5, "undone": 2}, Looks: 7, Compared: 3 << 20, Troubled: []*diskTry{{What: "undone in the middle of stop", Troubles: []string{"a\nclaim is left", "b"}}},
	}, {Runbook: "superdisk/create", Ends: map[string]int{"done": 1}}})
	for _, want := range []string{
		"| `superdisk/create` | 0 | 0 | 0 |  | 0 of 0 | 1 |  |  | 0 |  |  | 0s |\n| `superdisk/retire` | 5 | 7 | 30 | 4 | 2 of 4 | 5 | 2 |  | 7 | 3 MiB | 2 | 0s |",
		"- `superdisk/retire`, not reached again: ended\n- `superdisk/retire`, not attacked yet: undone stop\n",
		"- `superdisk/retire`, undone in the middle of stop: a claim is left\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
