package runbook

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const gated = `
runbook: test/gated
gate: {rehearsals: 2, max_age: 14d}
steps:
  - {id: a, uses: command, with: {run: "true", repeatable: true}}
`

func TestTheGateOpensAfterConsecutiveRehearsalsOfTheSameText(t *testing.T) {
	b := newBench(t)
	book := b.parse(gated)
	production := func(book *Runbook, override string) error {
		t.Helper()
		p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "prod1", Override: override})
		if err != nil {
			t.Fatal(err)
		}
		run, err := b.Begin(t.Context(), p)
		if err == nil {
			b.stintOf(run, Order{Do: "run"})
		}
		return err
	}
	rehearse := func(book *Runbook, passed bool) {
		t.Helper()
		run := b.begin(Request{Book: book})
		b.stintOf(run, Order{Do: "run"})
		if err := b.stateOf(run).Rehearsal(run, "trial", passed).Keep(t.Context(), b.Store, book.Name); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, passed int, why string) {
		t.Helper()
		var g *GateError
		if !errors.As(err, &g) || len(g.Passed) != passed || !strings.Contains(g.Why, why) {
			t.Errorf("got %v, want a gate with %d passed, %q", err, passed, why)
		}
	}
	refused(production(book, ""), 0, "")
	rehearse(book, true)
	refused(production(book, ""), 1, "")
	rehearse(book, false)
	rehearse(book, true)
	refused(production(book, ""), 1, "did not pass")
	rehearse(book, true)
	if err := production(book, ""); err != nil {
		t.Errorf("after two in a row: %v", err)
	}
	changed := b.parse(gated + "# a byte more\n")
	refused(production(changed, ""), 0, "another text")
	if err := production(changed, "the site is down"); err != nil {
		t.Errorf("with an override: %v", err)
	}
	runs, err := b.Store.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h := b.stateOf(runs[0].ID).Header; h.Override != "the site is down" {
		t.Errorf("the override is not kept: %+v", h)
	}
}

func TestARehearsalOfSomethingElseDoesNotCount(t *testing.T) {
	b := &Runbook{Gate: &Gate{Rehearsals: 1, MaxAge: Age(24 * time.Hour)}}
	h := Header{Hash: "h", Versions: map[string]int{"command": 1}, Product: "MariaDB", Version: "10.11.6-log", Topology: "pair"}
	for _, c := range []struct {
		want   string
		change func(*Rehearsal)
	}{
		{"", func(*Rehearsal) {}},
		{"", func(r *Rehearsal) { r.At = time.Now().Add(-23 * time.Hour) }},
		{"did not pass", func(r *Rehearsal) { r.Passed = false }},
		{"changed nothing", func(r *Rehearsal) { r.Idle = true }},
		{"another text", func(r *Rehearsal) { r.Hash = "g" }},
		{"other versions of its actions", func(r *Rehearsal) { r.Versions = map[string]int{"command": 2} }},
		{"was on MySQL 10.11", func(r *Rehearsal) { r.Product = "MySQL" }},
		{"was on MariaDB 10.6, this is MariaDB 10.11", func(r *Rehearsal) { r.Minor = "10.6" }},
		{"class many, this is pair", func(r *Rehearsal) { r.Topology = "many" }},
		{"too old", func(r *Rehearsal) { r.At = time.Now().Add(-25 * time.Hour) }},
	} {
		st := State{Header: h, Outcome: Done, Book: &Runbook{}, Items: []*Item{{}, {Acts: true}}}
		st.Header.Version = "10.11.9" // another patch of the same minor version
		r := st.Rehearsal("r", "trial", true)
		c.change(&r)
		if got := differs(r, b, h); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if (&State{Outcome: Broken}).Rehearsal("r", "trial", true).Passed {
		t.Error("a run that failed counts as a passed rehearsal")
	}
}

// A rehearsal in which every step found its work done, or was left out, shows nothing of how it is done.
func TestARehearsalOfNothingDoesNotCount(t *testing.T) {
	b := newBench(t)
	b.put("b", "")
	book := b.parse(`
runbook: test/gated
gate: {rehearsals: 1}
steps:
  - {id: a, if: cluster.environment == "production", uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b"}}
`)
	st := b.stintOf(b.begin(Request{Book: book}), Order{Do: "run"})
	if r := st.Rehearsal("r", "trial", true); !r.Passed || !r.Idle {
		t.Errorf("a rehearsal of nothing: %+v", r)
	}
}
