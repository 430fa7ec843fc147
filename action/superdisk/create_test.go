package superdisk

import (
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
