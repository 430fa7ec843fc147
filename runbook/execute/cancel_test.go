package execute

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// cancelled waits for the file go in its second step, and has a third.
const cancelled = `
runbook: test/cancelled
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm DIR/a", repeatable: true}}
  - id: b
    uses: command
    with: {run: "echo x >> DIR/began; until test -e DIR/go; do sleep 0.02; done; touch DIR/b", check: "test -e DIR/b", undo: "rm -f DIR/b", repeatable: true}
  - {id: c, uses: command, with: {run: "touch DIR/c", check: "test -e DIR/c"}}
`

func TestCancelToARunUnderWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		stops   bool // the act may be cut off
		undo    bool
		outcome journal.Outcome
		cuts    int
		undone  string
	}{
		{name: "what acts may end", outcome: journal.RunCancelled},
		{name: "what may be cut off is", stops: true, outcome: journal.RunCancelled, cuts: 1},
		{name: "and taken back", undo: true, outcome: journal.RunUndone, undone: "b a"},
		{name: "cut off and taken back", stops: true, undo: true, outcome: journal.RunUndone, cuts: 1, undone: "b a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			text := cancelled
			if c.stops {
				text = strings.Replace(text, `undo: "rm -f DIR/b", `, `undo: "rm -f DIR/b", interruptible: true, `, 1)
			}
			run := b.begin(Request{Book: b.parse(text)})
			e, err := b.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Start(t.Context(), e, run, journal.Command{Do: "run"}); err != nil {
				t.Fatal(err)
			}
			b.until(run, func(*journal.State) bool { return b.read("began") != "" })
			if err := b.Tell(t.Context(), run, journal.Message{Say: "cancel", Undo: c.undo, Leave: map[bool]string{false: "as it is"}[c.undo], Reason: "wrong cluster"}); err != nil {
				t.Fatal(err)
			}
			if c.stops {
				b.until(run, func(*journal.State) bool { return len(b.events(run, journal.Cut)) == c.cuts })
			} else {
				b.until(run, func(st *journal.State) bool { return st.Stopping != nil })
				b.put("go", "")
			}
			if err := errors.Join(e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			st := b.stateOf(run)
			if st.Outcome != c.outcome || st.Item("c").Phase != journal.StepWaiting || len(b.events(run, journal.Intended)) != 2 || len(b.events(run, journal.Cut)) != c.cuts {
				t.Errorf("outcome %q, c %s, %d acts, %d cuts", st.Outcome, st.Item("c").Phase, len(b.events(run, journal.Intended)), len(b.events(run, journal.Cut)))
			}
			if s := b.events(run, journal.Stopping); len(s) != 1 || s[0].By != "ann" || s[0].Reason != "wrong cluster" || s[0].Message != 1 {
				t.Errorf("the word was taken as %+v", s)
			}
			var undone []string
			for _, e := range b.events(run, journal.Undone) {
				undone = append(undone, e.Step)
			}
			if got := strings.Join(undone, " "); got != c.undone {
				t.Errorf("undone %q, want %q", got, c.undone)
			}
			if lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1")); err != nil || lease.Holder != "" {
				t.Errorf("the lock is held by %q, %v", lease.Holder, err)
			}
		})
	}
}
