package superdisk

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
)

// The pace of a copy that did not come to its end would be that of every later copy and comparison.
func TestTheUndoOfARebuildResetsThePace(t *testing.T) {
	for name, before := range map[string]string{"the leg is taken out": "", "the leg was there before": "network /dev/ubdb in_sync"} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			undo := call()
			undo.Before = action.Facts{"legs": before}
			if err := m.task("superdisk.rebuild", "leg: network", "volume: /dev/ubdb").(action.Undoer).Undo(t.Context(), m.cluster(nil), undo); err != nil {
				t.Fatal(err)
			}
			reset := slices.IndexFunc(m.ran, func(line string) bool { return strings.Contains(line, "echo system >sync_speed_max") })
			out := slices.IndexFunc(m.ran, func(line string) bool { return strings.Contains(line, "--fail /dev/ubdb") })
			if reset < 0 || (out >= 0) != (before == "") || out > reset {
				t.Errorf("ran %q", m.ran)
			}
		})
	}
}
