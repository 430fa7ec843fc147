package superdisk

import (
	"strings"
	"testing"

	"plimsoll/action"
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
