package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/runbook/journal"
)

// A try on copies is repeated by its seed and number, every run of it is cut off, and what is drawn covers what the page says.
func TestATryOnCopiesIsDrawnFromItsSeed(t *testing.T) {
	swaps, resets, moments, entries := 0, 0, 0, 0
	at := map[string]map[int]bool{"rebuild": {}, "detach": {}, "reattach": {}}
	for n := range 240 {
		d := drawCopy(7, n)
		if !reflect.DeepEqual(d, drawCopy(7, n)) {
			t.Fatalf("try %d is drawn otherwise", n)
		}
		for _, b := range []blows{d.Rebuild, d.Detach, d.Reattach} {
			if len(b.Cuts) == 0 || len(b.Cuts) != len(b.Ways) {
				t.Errorf("try %d: %+v", n, b)
			}
		}
		for book, first := range map[string]blow{"rebuild": d.Rebuild.Cuts[0], "detach": d.Detach.Cuts[0], "reattach": d.Reattach.Cuts[0]} {
			if !first.Copy {
				at[book][first.After] = true
			}
		}
		for _, c := range d.Rebuild.Cuts {
			if c.Copy {
				moments++
			} else {
				entries++
			}
		}
		if d.Rebuild.Swap {
			swaps++
		}
		if d.Rebuild.Reset {
			resets++
		}
		if (d.Rebuild.Swap || d.Rebuild.Reset) && !d.Rebuild.Cuts[0].Copy {
			t.Errorf("try %d: what befalls a copy has none: %+v", n, d.Rebuild)
		}
	}
	if len(at["rebuild"]) != rebuildEntries || len(at["detach"]) != legEntries || len(at["reattach"]) != legEntries {
		t.Errorf("killed at the entries %v", at)
	}
	if swaps < 40 || swaps > 80 || resets < 8 || resets > 35 || moments < 200 || entries < 60 {
		t.Errorf("%d swaps, %d resets, %d moments of a copy, %d entries", swaps, resets, moments, entries)
	}
}

// Troubles are on the page, and the sums are of all runbooks.
func TestTheTableOfCopies(t *testing.T) {
	text := copiesTable([]copiesResult{{
		Seed: 3, Kernel: "6.1.0", At: time.Date(2026, 11, 25, 21, 0, 0, 0, time.UTC), Tries: 2, Compared: 48, Swapped: 1,
		Books: map[string]*copyBook{
			"superdisk/rebuild":        {Runs: 3, Kills: 4, Inside: 2, Ends: map[string]int{"done": 2, "undone": 1}, Methods: map[string]int{"seed": 1, wentOn: 1}, At: map[int]int{1: 1, 2: 1, 4: 1, 3: 1}},
			"superdisk/detach-network": {Runs: 2, Kills: 2, Ends: map[string]int{"done": 2}},
		},
		Troubled: []*copyTry{{Number: 1, Troubles: []string{"the local leg alone: f3"}}},
	}, {Seed: 4, Tries: 1, Compared: 12, Books: map[string]*copyBook{"superdisk/detach-network": {Runs: 1, Ends: map[string]int{"done": 1}, At: map[int]int{1: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 10: 1}}}}})
	for _, want := range []string{
		"| `superdisk/rebuild` | 3 | 4 | 2 | 2 | 1 | seed 1, seed gone on with 1 | 1 2 3 4 |",
		"seed 3, 25 November 2026, Linux 6.1.0, 0s: 2 tests, 1 disks swapped, 0 resets, **48 files**, 1 with troubles | 5 | 6 | 2 | 4 | 1 |  |  |",
		"**all**: 3 tests, **60 files** | 6 | 6 | 2 | 5 | 1 |",
		"\nNo process was killed at entry 2 of `superdisk/detach-network`.\n\nNo process was killed at entry 5 of `superdisk/rebuild`.\n",
		"- seed 3, try 1: the local leg alone: f3",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A copy that went on copied less than what is in use. The numbers are those of a journal that is read.
func TestACopyThatWentOnIsTold(t *testing.T) {
	for text, want := range map[string]string{
		`{"method": "seed", "seeded_bytes": 4096, "used_bytes": 8192}`: wentOn,
		`{"method": "seed", "seeded_bytes": 8192, "used_bytes": 8192}`: "seed",
		`{"method": "re-add", "seeded_bytes": 0, "used_bytes": 0}`:     "re-add",
	} {
		var e journal.Event
		if err := json.Unmarshal([]byte(`{"output": `+text+`}`), &e); err != nil {
			t.Fatal(err)
		}
		if got := methodOf(e.Output); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
