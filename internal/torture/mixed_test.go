package main

import (
	"reflect"
	"strings"
	"testing"

	"plimsoll/runbook/journal"
)

// A try is repeated by its seed and number: what is drawn must be the same, and another for another.
func TestATryIsDrawnFromItsSeed(t *testing.T) {
	m := &mixed{product: "mariadb"}
	differ := 0
	for n := range 50 {
		if !reflect.DeepEqual(draw(7, n, m.stories()), draw(7, n, m.stories())) {
			t.Fatalf("try %d is drawn otherwise", n)
		}
		if !reflect.DeepEqual(draw(7, n, m.stories()), draw(8, n, m.stories())) {
			differ++
		}
	}
	if differ < 45 {
		t.Errorf("%d of 50 tries of another seed are others", differ)
	}
}

// A code that does not say what became of the run is a trouble.
func TestACodeIsHeldAgainstTheStatus(t *testing.T) {
	for _, c := range []struct {
		status string
		word   way
		code   int
		wrong  bool
	}{
		{"done", resume, 0, false}, {"done", resume, 1, true}, {"undone", resume, 0, true}, {"undone", resume, 1, false}, {"undone", undo, 0, false},
		{"cancelled", undo, 0, true}, {"cancelled", leaveIt, 0, false}, {journal.DoneWithRemainders, resume, 6, false}, {journal.DoneWithRemainders, resume, 0, true},
		{journal.UndoneWithRemainders, undo, 6, false}, {journal.UndoneWithRemainders, undo, 1, true}, {journal.UndoneWithRemainders, resume, 1, false},
		{journal.UndoneWithRemainders, resume, 6, true}, {journal.UndoneWithRemainders, resume, 0, true},
		{"done", resume, 6, true}, {"failed", resume, 1, false}, {"failed", giveUp, 0, true},
	} {
		a := &attempt{}
		a.judgeCode(told{Status: c.status}, c.word, said{Code: c.code}, false)
		if (len(a.Troubles) > 0) != c.wrong {
			t.Errorf("%+v: %q", c, a.Troubles)
		}
	}
}

// What is wrong with a cluster is a trouble, unless a status says so; two primaries always are.
func TestASceneIsJudged(t *testing.T) {
	whole := scene{primaries: []string{"n1"}}
	for name, c := range map[string]struct {
		scene  scene
		spoken string
		want   string
	}{
		"whole":                {whole, "", ""},
		"nobody takes writes":  {scene{}, "", "not whole"},
		"that is said":         {scene{}, "not fixed yet", ""},
		"two take writes":      {scene{primaries: []string{"n1", "n2"}}, "not fixed yet", "2 servers take writes"},
		"one follows nobody":   {scene{primaries: whole.primaries, strays: []string{"n2"}}, "", "not whole"},
		"an ended run's claim": {scene{primaries: whole.primaries, claim: "ended-1"}, "", "its claim is left"},
		"a claim that stays":   {scene{primaries: whole.primaries, claim: "told-1"}, "", ""},
		"a lock":               {scene{primaries: whole.primaries, locked: []string{"n2"}}, "", "no process lives"},
	} {
		a := &attempt{ledger: &ledger{}, stays: map[string]bool{"told-1": true}}
		a.judgeScene(c.scene, c.spoken, []string{"ended-1", "told-1"})
		if found := strings.Join(a.Troubles, "; "); (c.want == "") != (found == "") || !strings.Contains(found, c.want) {
			t.Errorf("%s: %q, want %q", name, found, c.want)
		}
	}
}
