package superdisk

import (
	"strings"
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

// What an undo gives back to the array is the leg that was taken out: no local disk that was replaced and is still there, and no copy of the volume.
func TestAnUndoGivesBackTheLegThatLeft(t *testing.T) {
	for name, c := range map[string]struct {
		pages   map[string]string // superblocks, by device; the local leg /dev/ubda serves
		refusal string
	}{
		"the leg":                                    {map[string]string{"/dev/ubdb": "left"}, ""},
		"and a local disk that was replaced":         {map[string]string{"/dev/ubdb": "left", "/dev/ubd0": "stale"}, ""},
		"and a copy of it":                           {map[string]string{"/dev/ubdb": "left", "/dev/ubd0": "left"}, "/dev/ubd0, /dev/ubdb of local all say that they were the network leg of array sd"},
		"a local disk that was replaced, and no leg": {map[string]string{"/dev/ubd0": "stale"}, "claims the place in array sd of the leg in use"},
		"nothing": {nil, "the network leg is not on local any more"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "network-removed")
			m.said["for b in *"], m.said["readlink -f"] = "ubd0\nubda\nubdb", "size 2097152\ntype linux_raid_member\n"
			m.pages["/dev/ubda"] = m.localAlone()
			for device, page := range c.pages {
				m.pages[device] = m.recorded(page + ".superblock")
			}
			m.runs = func(line string) {
				if strings.Contains(line, "--re-add") || strings.Contains(line, "--add") {
					m.shows("whole")
				}
			}
			err := m.task("superdisk.detach").(action.Undoer).Undo(t.Context(), m.cluster(nil), call())
			if c.refusal != "" {
				if refused(t, err, c.refusal); m.did("mdadm") {
					t.Errorf("ran %q", m.ran)
				}
				return
			}
			if err != nil || !m.did("/dev/md127 --re-add --write-mostly /dev/ubdb") && !m.did("/dev/md127 --add --write-mostly /dev/ubdb") || m.did("/dev/ubd0") {
				t.Errorf("%v, ran %q", err, m.ran)
			}
		})
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
