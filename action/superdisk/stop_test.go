package superdisk

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/superdisk"
)

// An array that something assembled from one leg when the machine started is not served from by a start of both: the kernel does not know whether that leg
// is out of step. One whose other leg is being brought into step has been started from both.
func TestAnArrayThatWasStartedFromOneLegIsNotTakenForBoth(t *testing.T) {
	m := pretends(t, "network-removed")
	m.unmounts()
	start := m.task("superdisk.start", "uuid: "+recordedUUID, "mount: /run/mnt")
	r, err := start.Check(t.Context(), m.cluster(nil))
	refused(t, err, "runs on local from its local leg /dev/ubda alone, and is not mounted")
	if m.did("mount") {
		t.Errorf("%+v, ran %q", r, m.ran)
	}
	m.shows("network-failed") // md holds the other, and has given it up
	m.unmounts()
	_, err = start.Check(t.Context(), m.cluster(nil))
	refused(t, err, "from its local leg /dev/ubda alone")
	m.shows("network-recovers")
	m.unmounts()
	if r, err := start.Check(t.Context(), m.cluster(nil)); err != nil || r.State != action.Needed {
		t.Errorf("both are there: %+v, %v", r, err)
	}
}

// Of disks that say they are the same leg of an array, one is a copy, as a snapshot of its volume: none is started.
func TestACopyOfALegIsNotStarted(t *testing.T) {
	m := pretends(t, "whole")
	m.hasNoArray()
	m.said["for b in *"] = "ubda\nubdb\nubdc"
	m.pages["/dev/ubda"], m.pages["/dev/ubdb"], m.pages["/dev/ubdc"] = m.recorded("stale.superblock"), m.recorded("left.superblock"), m.recorded("left.superblock")
	start := m.task("superdisk.start", "uuid: "+recordedUUID, "mount: /run/mnt")
	_, err := start.Check(t.Context(), m.cluster(nil))
	refused(t, err, "/dev/ubdb and /dev/ubdc of local say that they are the same leg of array "+recordedUUID)
	delete(m.pages, "/dev/ubdc")
	if r, err := start.Check(t.Context(), m.cluster(nil)); err != nil || r.State != action.Needed {
		t.Errorf("without the copy: %+v, %v", r, err)
	}
}

func TestAnArrayOfTheSameNameIsNotTakenForAnother(t *testing.T) {
	m := pretends(t, "whole")
	on := m.cluster(nil)
	const other = "28a3a8d4:332e3a38:b44f3550:7dbde5c0"
	wrong := m.task("superdisk.start", "uuid: "+other, "mount: /run/mnt")
	_, err := wrong.Check(t.Context(), on)
	refused(t, err, "not "+other)
	_, err = wrong.Act(t.Context(), on, call())
	refused(t, err, "not "+other)
	c := call()
	c.Before = action.Facts{"array": other, "mounted": "/run/other"}
	refused(t, m.task("superdisk.stop", "mount: /run/other").(action.Undoer).Undo(t.Context(), on, c), "not "+other)
	refused(t, wrong.(action.Undoer).Undo(t.Context(), on, call()), "not "+other)
	c.Before = action.Facts{"leg_array": other}
	refused(t, m.task("superdisk.start-alone", "volume: vol-1", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), on, c), "not "+other)
	if len(m.ran) > 0 {
		t.Errorf("ran %q", m.ran)
	}
	c.Before = action.Facts{"array": "none"}
	if err := m.task("superdisk.stop", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), on, c); err != nil {
		t.Errorf("there was nothing to stop: %v", err)
	}
	if err := note(t.Context(), on, m); err != nil {
		t.Fatal(err)
	}
	right := m.task("superdisk.start", "uuid: "+recordedUUID, "mount: /run/mnt")
	if r, err := right.Check(t.Context(), on); err != nil || r.State != action.Satisfied {
		t.Errorf("it is the array that is meant: %v, %v", r.State, err)
	}
	m.shows("inactive")
	m.says = strings.ReplaceAll(m.says, "/dev/md126", "/dev/md127")
	_, err = right.Act(t.Context(), on, call())
	if refused(t, err, "0 of 2 legs"); !m.did("mdadm --stop /dev/md127") { // the kernel knows no UUID of what is half assembled
		t.Errorf("what is half assembled was not stopped: %v", err)
	}
}

// An array that runs from one leg when its stop is undone, and is not mounted, may have been assembled by something else when the machine started: it is
// started anew from the legs that are there. One that an undo had started so, and was killed, is started so again.
func TestAnUndoOfAStopDoesNotServeFromALegThatSomethingElseStarted(t *testing.T) {
	for name, c := range map[string]struct {
		look, network string
		missing       float64 // before
		stale         string  // the leg that is recorded as out of step
		does, refusal string
	}{
		"something else has started it":                    {"network-alone", "left", 0, "", "mdadm --assemble /dev/md/sd /dev/ubda /dev/ubdb", ""},
		"something else, and it is recorded as stale":      {"network-alone", "left", 0, "network", "mdadm --assemble /dev/md/sd /dev/ubda /dev/ubdb", ""},
		"the undo has started it":                          {"network-alone", "alone", 0, "", "mdadm --assemble --run /dev/md/sd /dev/ubdb", ""},
		"something else has started and written to it":     {"network-alone", "alone", 0, "network", "", "this leg has been out of step since"},
		"it had one leg before":                            {"network-removed", "left", 1, "network", "mount /dev/md/sd /run/mnt", ""},
		"it had one leg before, and this one is the other": {"network-removed", "left", 1, "local", "", "this leg has been out of step since"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, c.look)
			m.unmounts()
			m.said["for b in *"] = "ubda\nubdb"
			m.pages["/dev/ubda"], m.pages["/dev/ubdb"] = m.recorded("stale.superblock"), m.recorded(c.network+".superblock")
			on := m.cluster(nil)
			kept, err := records(on)
			if err != nil {
				t.Fatal(err)
			}
			legs := map[string]superdisk.LegRecord{}
			for _, role := range []superdisk.Role{superdisk.Local, superdisk.Network} {
				legs[string(role)] = superdisk.LegRecord{Role: role, InStep: c.stale != string(role), Since: time.Now(), Seen: time.Now()}
			}
			if err := kept.Write(t.Context(), superdisk.Record{Array: recordedUUID, Legs: legs}); err != nil {
				t.Fatal(err)
			}
			undone := call()
			undone.Before = action.Facts{"array": recordedUUID, "mounted": "/run/mnt", "missing": c.missing}
			err = m.task("superdisk.stop", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), on, undone)
			if c.refusal != "" {
				if refused(t, err, c.refusal); m.did("mdadm --assemble") || m.did("mount /dev/md/sd") {
					t.Errorf("ran %q", m.ran)
				}
				return
			}
			if err != nil && action.RemainsOf(err) == nil || !m.did(c.does) || !m.did("mount /dev/md/sd /run/mnt") || m.did("mdadm --stop") != (c.missing == 0) {
				t.Errorf("%v, ran %q", err, m.ran)
			}
		})
	}
}

// A disk that was given up by the array, or replaced in it, says so of itself: it is not started with the two legs, which are.
func TestALegWithoutAPlaceIsNotStartedBesideTwo(t *testing.T) {
	m := pretends(t, "whole")
	m.hasNoArray()
	m.said["for b in *"] = "ubda\nubdb\nubdc"
	m.pages["/dev/ubda"], m.pages["/dev/ubdb"], m.pages["/dev/ubdc"] = m.recorded("stale.superblock"), m.recorded("left.superblock"), m.withoutPlace()
	undone := call()
	undone.Before = action.Facts{"array": recordedUUID, "mounted": "/run/mnt", "missing": float64(0)}
	err := m.task("superdisk.stop", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), m.cluster(nil), undone)
	if err != nil || !slices.Contains(m.ran, "mdadm --assemble /dev/md/sd /dev/ubda /dev/ubdb") {
		t.Errorf("%v, ran %q", err, m.ran)
	}
	m.pages["/dev/ubdb"] = m.withoutPlace()
	_, err = m.task("superdisk.start", "uuid: "+recordedUUID, "mount: /run/mnt").Check(t.Context(), m.cluster(nil))
	refused(t, err, "1 of 2 legs of array")
}
