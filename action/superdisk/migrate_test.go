package superdisk

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
)

const (
	asideMark = "/run/plimsoll-superdisk/sd/.plimsoll-filling"
	copying   = "cp -a"
)

// migrating is a machine whose old disk ubda is mounted where the array of ubdb alone is to be.
func migrating(t *testing.T) (*pretend, action.Task) {
	t.Helper()
	m := pretends(t, "network-alone")
	m.unmounts()
	m.said["/proc/self/mounts"], m.said["blkid -p -O"] = "/dev/ubda", "xfs"
	m.files = map[string][]string{"/run/plimsoll-superdisk/sd": {"mysql"}}
	return m, m.task("superdisk.migrate", "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt")
}

func TestTheOldDiskIsNotCopiedOverNewerFiles(t *testing.T) {
	m, task := migrating(t)
	on := m.cluster(nil)
	_, err := task.Act(t.Context(), on, call())
	refused(t, err, "array sd already has files")
	refused(t, task.(action.Undoer).Undo(t.Context(), on, call()), "array sd already has files")

	m.texts[asideMark] = "filled\n" // it was cut off before it was mounted, and the old disk came back with a start of the machine
	_, err = task.Act(t.Context(), on, call())
	refused(t, err, "array sd already has files")
	if m.did(copying) || m.did("wipefs") || m.did("--stop") {
		t.Errorf("ran %q", m.ran)
	}

	m.said["/proc/self/mounts"] = "" // nothing is in its place
	if _, err := task.Act(t.Context(), on, call()); err != nil || m.did(copying) || !m.did("mount /dev/md/sd /run/mnt") || !m.did("remove /run/mnt/.plimsoll-filling") {
		t.Errorf("%v, ran %q", err, m.ran)
	}
}

func TestACopyThatWasCutOffGoesOn(t *testing.T) {
	for name, mark := range map[string]string{"anew": "", "half filled": "filling\n"} {
		t.Run(name, func(t *testing.T) {
			m, task := migrating(t)
			if m.texts[asideMark] = mark; mark == "" {
				delete(m.texts, asideMark)
				m.files = nil
			}
			if _, err := task.Act(t.Context(), m.cluster(nil), call()); err != nil {
				t.Fatal(err)
			}
			at := -1
			for _, step := range []string{copying, "umount /run/mnt", "write " + asideMark + " filled", "umount /run/plimsoll-superdisk/sd", "mount /dev/md/sd /run/mnt", "remove /run/mnt/.plimsoll-filling"} {
				next := slices.IndexFunc(m.ran, func(line string) bool {
					return strings.Contains(line, step) && !strings.HasPrefix(step, "mount") || line == step
				})
				if next <= at {
					t.Errorf("%s is not after what comes before it: %q", step, m.ran)
				}
				at = next
			}
			if mark == "" && slices.IndexFunc(m.ran, func(line string) bool { return strings.HasPrefix(line, "write "+asideMark+" filling") }) < 0 {
				t.Errorf("not marked before the copy: %q", m.ran)
			}
		})
	}
}

func TestThePlanOfAMigrationNamesWhatFstabMounts(t *testing.T) {
	m, task := migrating(t)
	m.texts["/etc/fstab"] = "# old\nUUID=1234 /run/mnt xfs defaults 0 0\n"
	r, err := task.Check(t.Context(), m.cluster(nil))
	if err != nil || !strings.Contains(r.Reason, "/etc/fstab mounts UUID=1234 at /run/mnt") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestADiskThatHasTheNameOfAnotherIsNotErased(t *testing.T) {
	m := pretends(t, "network-alone")
	m.said["readlink -f"], m.said["-s UUID /dev/ubda"] = "size 1048576\ntype xfs\n", "1234"
	on := m.cluster(nil)
	task := func(holds string) action.Task {
		return (&stage{}).task(t, "superdisk.erase", "node: n1", "volume: /dev/ubda", "holds: "+holds)
	}
	_, err := task("5678").Check(t.Context(), on)
	refused(t, err, `it holds file system "1234", not 5678`)
	_, err = task("5678").Act(t.Context(), on, call())
	if refused(t, err, `it holds file system "1234", not 5678`); m.did("wipefs") {
		t.Errorf("ran %q", m.ran)
	}
	if _, err := task(`"1234"`).Act(t.Context(), on, call()); err != nil || !m.did("wipefs -q -a /dev/ubda") {
		t.Errorf("it is the disk that is meant: %v, ran %q", err, m.ran)
	}
}
