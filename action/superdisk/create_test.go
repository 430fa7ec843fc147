package superdisk

import (
	"strings"
	"testing"

	"plimsoll/action"
)

func TestAnArrayIsNotUnmadeBeforeItIsLookedAt(t *testing.T) {
	const local, network, mount = "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt"
	for name, c := range map[string]struct {
		prepare func(m *pretend)
		refusal string // "": it is taken apart
	}{
		"mounted, with files": {func(m *pretend) { m.files = map[string][]string{"/run/mnt": {"mysql"}} }, "contains 1 files"},
		"mounted, empty":      {func(*pretend) {}, ""},
		"not mounted, with files": {func(m *pretend) {
			m.unmounts()
			m.said["blkid -p -O"], m.files = "xfs", map[string][]string{"/run/plimsoll-superdisk/sd": {"mysql"}}
		}, "contains 1 files"},
		"not mounted, an empty file system": {func(m *pretend) { m.unmounts(); m.said["blkid -p -O"] = "xfs" }, ""},
		"not mounted, no file system":       {func(m *pretend) { m.unmounts(); m.fails["blkid -p -O"] = 2 }, ""},
		"not assembled": {func(m *pretend) {
			m.hasNoArray()
			m.said["blkid -p -O 4194304"] = "xfs"
		}, "which is not assembled"},
		"stopped and erased by an undo that was cut off": {func(m *pretend) { m.hasNoArray(); m.fails["blkid -p -O"] = 2 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			m.pages["/dev/ubdb"] = m.recorded("left.superblock")
			c.prepare(m)
			err := m.task("superdisk.create", local, network, mount).(action.Undoer).Undo(t.Context(), m.cluster(nil), call())
			gone := m.did("--zero-superblock /dev/ubdb")
			if c.refusal == "" {
				if err != nil || !gone {
					t.Errorf("%v, ran %q", err, m.ran)
				}
				return
			}
			refused(t, err, c.refusal)
			if gone || m.did("wipefs") || m.did("--stop") {
				t.Errorf("ran %q", m.ran)
			}
		})
	}
}

// The record tells the legs of an array apart by the serial numbers of their disks: two that tell the same do not become legs of one.
func TestTwoDisksWithOneSerialNumberAreNotLegsOfOneArray(t *testing.T) {
	m := pretends(t, "whole")
	m.hasNoArray()
	m.said["device $d"], m.said["readlink -f"], m.fails["blkid -p -O"] = "device ubda 2097152 S1\ndevice ubdb 2097152 S1\n", "size 2097152\n", 2
	create := m.task("superdisk.create", "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt")
	_, err := create.Check(t.Context(), m.cluster(nil))
	refused(t, err, "/dev/ubda and /dev/ubdb of local both report the serial number S1")
	_, err = m.task("superdisk.create", "local: S1", "network: /dev/ubdb", "mount: /run/mnt").Check(t.Context(), m.cluster(nil))
	refused(t, err, "/dev/ubda and /dev/ubdb of local both report the serial number S1")
	if m.did("mdadm") {
		t.Errorf("ran %q", m.ran)
	}
	m.said["device $d"] = "device ubda 2097152 S1\ndevice ubdb 2097152 S2\n"
	if r, err := create.Check(t.Context(), m.cluster(nil)); err != nil || r.State != action.Needed {
		t.Errorf("two serial numbers: %+v, %v", r, err)
	}

	m.shows("network-removed")
	m.said["device $d"] = "device ubda 2097152 S1\ndevice ubdc 2097152 S1\n"
	rebuild := m.task("superdisk.rebuild", "leg: network", "volume: /dev/ubdc")
	_, err = rebuild.Check(t.Context(), m.cluster(nil))
	refused(t, err, "/dev/ubdc and /dev/ubda of local both report the serial number S1")
	_, err = rebuild.Act(t.Context(), m.cluster(nil), call())
	refused(t, err, "/dev/ubdc and /dev/ubda of local both report the serial number S1")
}

// An array that is mounted elsewhere is not created by mounting nothing.
func TestAnArrayThatIsMountedElsewhereIsNotTakenForMade(t *testing.T) {
	m := pretends(t, "whole")
	m.says = strings.Replace(m.says, " / /run/mnt ", " / /run/plimsoll-superdisk/sd ", 1)
	_, err := m.task("superdisk.create", "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt").Check(t.Context(), m.cluster(nil))
	refused(t, err, "array sd is mounted at /run/plimsoll-superdisk/sd, not at /run/mnt")
}
