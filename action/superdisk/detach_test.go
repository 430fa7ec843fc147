package superdisk

import (
	"testing"

	"plimsoll/action"
	"plimsoll/superdisk"
)

func TestTheLastLegInStepIsNotTakenOut(t *testing.T) {
	m := pretends(t, "network-alone")
	on := m.cluster(nil)
	_, err := m.task("superdisk.detach").Act(t.Context(), on, call())
	refused(t, err, "no other leg is in step")

	m.shows("network-recovers") // the local leg serves, and the other is being filled
	_, err = m.task("superdisk.detach", "leg: local").Act(t.Context(), on, call())
	refused(t, err, "no other leg is in step")

	undo := m.task("superdisk.rebuild", "leg: local", "volume: /dev/ubda").(action.Undoer)
	refused(t, undo.Undo(t.Context(), on, call()), "no other leg is in step")
	if m.did("mdadm") {
		t.Errorf("ran %q", m.ran)
	}
	m.shows("whole")
	if err := superdisk.Fail(t.Context(), m, "/dev/md127", "/dev/ubdb"); err != nil || !m.did("--fail /dev/ubdb") {
		t.Errorf("the other is in step: %v, ran %q", err, m.ran)
	}
}

func TestTheUndoOfARebuildLeavesALegThatWasThereBefore(t *testing.T) {
	m := pretends(t, "whole")
	c := call()
	undo := m.task("superdisk.rebuild", "leg: local", "volume: /dev/ubda").(action.Undoer)
	c.Before = action.Facts{"legs": "local /dev/ubda in_sync, network /dev/ubdb in_sync+write_mostly"}
	if err := undo.Undo(t.Context(), m.cluster(nil), c); err != nil || m.did("mdadm") {
		t.Errorf("it was a leg before: %v, ran %q", err, m.ran)
	}
	for _, before := range []string{"network /dev/ubdb in_sync+write_mostly", "local /dev/ubda faulty, network /dev/ubdb in_sync+write_mostly"} {
		m.ran, c.Before = nil, action.Facts{"legs": before}
		if err := undo.Undo(t.Context(), m.cluster(nil), c); err != nil || !m.did("--remove /dev/ubda") {
			t.Errorf("before: %s: %v, ran %q", before, err, m.ran)
		}
	}
}
