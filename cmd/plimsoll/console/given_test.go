package console

import (
	"bytes"
	"fmt"
	"testing"
)

// A command that is advised is about the same inventory as the one that was typed.
func TestAdvisedCommandsCarryTheInventory(t *testing.T) {
	var g Given
	const said = "fix the cause, then plimsoll runbook resume set-a1; or plimsoll runbook cancel set-a1 --undo; plimsoll lab list; plimsoll: it"
	if got := g.Said(said); got != said {
		t.Errorf("without --inventory: %q", got)
	}
	g.Inventory("our prod.yaml")
	const want = "fix the cause, then plimsoll --inventory 'our prod.yaml' runbook resume set-a1; or plimsoll --inventory 'our prod.yaml' runbook cancel set-a1 --undo; plimsoll lab list; plimsoll: it"
	if got := g.Said(said); got != want {
		t.Errorf("%q", got)
	}
	var out, err bytes.Buffer
	c := Streams{Out: &out, Err: g.On(&err), Given: &g}
	fmt.Fprint(c.Prose(), "Next: plimsoll runbook run a.yaml")
	fmt.Fprint(c.Err, "Next: plimsoll watch")
	if out.String() != "Next: plimsoll --inventory 'our prod.yaml' runbook run a.yaml" || err.String() != "Next: plimsoll --inventory 'our prod.yaml' watch" {
		t.Errorf("%q, %q", out.String(), err.String())
	}
	if got := g.Said("plimsoll\n  runbook status"); got != "plimsoll --inventory 'our prod.yaml'\n  runbook status" {
		t.Errorf("over two lines: %q", got)
	}
}
