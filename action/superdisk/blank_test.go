package superdisk

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/hint"
)

// A disk whose superblock was wiped still has the file system of its former array: a new array would mount it as its own, or be refused
// with the server stopped.
func TestTheFileSystemOfAFormerArrayIsNotTakenForThatOfANewOne(t *testing.T) {
	for _, name := range []string{"superdisk.create", "superdisk.migrate"} {
		m := pretends(t, "whole")
		m.hasNoArray()
		m.said["readlink -f"], m.said["/proc/self/mounts"], m.said["blkid -p -O 4194304"] = "size 2097152\n", "/dev/ubda", "xfs"
		_, err := m.task(name, "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt").Check(t.Context(), m.cluster(nil))
		refused(t, err, "it still has the xfs of a former array")
	}
}

// So a disk that is wiped is blank.
func TestAWipedLegIsBlank(t *testing.T) {
	m := pretends(t, "whole")
	m.hasNoArray()
	m.pages["/dev/ubdb"] = m.recorded("left.superblock")
	task := (&stage{}).task(t, "superdisk.wipe", "node: n1", "volume: /dev/ubdb", "uuid: "+recordedUUID)
	if _, err := task.Act(t.Context(), m.cluster(nil), call()); err != nil {
		t.Fatal(err)
	}
	erased := slices.IndexFunc(m.ran, func(line string) bool { return strings.HasPrefix(line, "dd of=/dev/ubdb bs=4096 seek=1024 ") })
	wiped := slices.IndexFunc(m.ran, func(line string) bool { return line == "mdadm --zero-superblock /dev/ubdb" })
	if erased < 0 || wiped < erased { // cut off between them, the act is repeated
		t.Errorf("ran %q", m.ran)
	}
}

// An XFS whose mkfs was cut off cannot be mounted, and has nothing.
func TestAnXFSThatWasHalfMadeIsMadeAnew(t *testing.T) {
	for name, half := range map[string]bool{"half made": true, "made": false} {
		t.Run(name, func(t *testing.T) {
			m, task := migrating(t)
			m.files = nil
			m.pages["/dev/md/sd"] = make([]byte, 512)
			if half {
				m.pages["/dev/md/sd"][126] = 1
			}
			if _, err := task.Act(t.Context(), m.cluster(nil), call()); err != nil {
				t.Fatal(err)
			}
			if made := m.did("mkfs.xfs"); made != half || m.did("wipefs -q -a /dev/md/sd") != half {
				t.Errorf("ran %q", m.ran)
			}
		})
	}
}

// A migration may be killed at each of its moments, and is undone to where it began.
func TestAMigrationThatWasCutOffIsUndoneToWhereItBegan(t *testing.T) {
	const oldDisk, leg = "mount /dev/ubda /run/mnt", "--zero-superblock /dev/ubdb"
	for name, c := range map[string]struct {
		prepare func(m *pretend)
		does    []string
		doesNot string
	}{
		"while it copied": {func(*pretend) {}, []string{"--stop", leg}, oldDisk},
		"when the old disk was not mounted any more, and the copy not marked yet": {func(m *pretend) { m.said["/proc/self/mounts"] = "" }, []string{"--stop", leg, oldDisk}, "cp -a"},
		"in its undo, when the array was stopped": {func(m *pretend) {
			m.hasNoArray()
			delete(m.said, "blkid -p -O")
		}, []string{leg}, "--stop"},
	} {
		t.Run(name, func(t *testing.T) {
			m, task := migrating(t)
			m.texts[asideMark] = "filling\n"
			m.pages["/dev/ubdb"] = m.recorded("left.superblock")
			c.prepare(m)
			if err := task.(action.Undoer).Undo(t.Context(), m.cluster(nil), call()); err != nil {
				t.Fatal(err)
			}
			for _, what := range c.does {
				if !m.did(what) {
					t.Errorf("it did not %s: %q", what, m.ran)
				}
			}
			if m.did(c.doesNot) {
				t.Errorf("it did %s: %q", c.doesNot, m.ran)
			}
		})
	}
}

// The mark of a copy is removed after the array was mounted: a process that was killed between them leaves it for the next.
func TestTheMarkOfACopyIsRemovedByWhoeverGoesOn(t *testing.T) {
	m := pretends(t, "network-alone")
	m.said["blkid -p -O"] = "xfs"
	on, task := m.cluster(nil), m.task("superdisk.migrate", "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt")
	if err := note(t.Context(), on, m); err != nil {
		t.Fatal(err)
	}
	m.texts["/run/mnt/.plimsoll-filling"] = "filled\n"
	if r, err := task.Check(t.Context(), on); err != nil || r.State != action.Needed {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := task.Act(t.Context(), on, call()); err != nil || m.did("cp -a") || m.did("mount") {
		t.Errorf("%v, ran %q", err, m.ran)
	}
	if r, err := task.Check(t.Context(), on); err != nil || r.State != action.Satisfied {
		t.Errorf("%+v, %v", r, err)
	}
}

// An XFS whose mkfs was cut off has nothing, and cannot be mounted to be looked at: the undo takes its array apart, and a plan says that it is made
// anew.
func TestAnXFSThatWasHalfMadeIsUndone(t *testing.T) {
	for name, look := range map[string]string{"superdisk.create": "whole", "superdisk.migrate": "network-alone"} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, look)
			m.unmounts()
			m.said["/proc/self/mounts"], m.said["blkid -p -O"], m.fails["mount -o ro"] = "/dev/ubda", "xfs", 32
			m.pages["/dev/ubdb"] = m.recorded("left.superblock")
			for _, array := range []string{"/dev/md/sd", "/dev/md126", "/dev/md127"} {
				m.pages[array] = append(make([]byte, 126), 1)
			}
			task := m.task(name, "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt")
			if r, err := task.Check(t.Context(), m.cluster(nil)); err != nil || !strings.Contains(r.Reason, "its XFS is incomplete, and is created again") {
				t.Errorf("its plan: %+v, %v", r, err)
			}
			m.ran = nil
			if err := task.(action.Undoer).Undo(t.Context(), m.cluster(nil), call()); err != nil {
				t.Fatal(err)
			}
			if !m.did("wipefs -q -a /dev/md") || !m.did("--stop") || !m.did("--zero-superblock /dev/ubdb") {
				t.Errorf("ran %q", m.ran)
			}
		})
	}
}

// After a restart of the machine the array of a migration that was cut off is not assembled. Its leg is not wiped unseen, and the old disk is mounted
// again all the same.
func TestTheOldDiskIsMountedThoughTheLegIsNotWiped(t *testing.T) {
	m, task := migrating(t)
	m.hasNoArray()
	m.said["/proc/self/mounts"], m.pages["/dev/ubdb"] = "", m.recorded("alone.superblock")
	err := task.(action.Undoer).Undo(t.Context(), m.cluster(nil), call())
	refused(t, err, "which is not assembled")
	if advice := hint.Of(err); !strings.Contains(advice, "mdadm --assemble --run /dev/md/sd /dev/ubdb") || strings.Contains(advice, "superdisk.start") {
		t.Errorf("it has one leg, and the advice is %q", advice)
	}
	if !m.did("mount /dev/ubda /run/mnt") || m.did("--zero-superblock") {
		t.Errorf("ran %q", m.ran)
	}
}
