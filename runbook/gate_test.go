package runbook

import (
	"errors"
	"strings"
	"testing"
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
