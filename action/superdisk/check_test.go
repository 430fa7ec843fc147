package superdisk

import (
	"strings"
	"testing"
	"time"

	"plimsoll/hint"
	"plimsoll/superdisk"
)

// A comparison that finds something fails with what it found, and the record has it for later looks. Where nothing differs it is done.
func TestACheckSaysWhatDiffers(t *testing.T) {
	for count, want := range map[string]string{"0": "", "128": "up to 65536 bytes of the legs differ, by md's count; whether files are among them is not known: what the file system uses could not be compared: the helper cannot run there"} {
		m := pretends(t, "whole")
		m.says = strings.ReplaceAll(m.says, "mismatch_cnt:0", "mismatch_cnt:"+count)
		m.pages["/dev/ubda"] = m.recorded("left.superblock")
		on := m.cluster(nil)
		facts, err := m.task("superdisk.check").Act(t.Context(), on, call())
		if want == "" {
			if err != nil || facts["found"] != "the legs are the same" {
				t.Errorf("%v, %v", facts, err)
			}
		} else if refused(t, err, want); facts["bytes_that_differ"] != int64(65536) || strings.Contains(hint.Of(err), "wipe") {
			t.Errorf("%v, %q", facts, hint.Of(err))
		}
		kept, err := records(on)
		if err != nil {
			t.Fatal(err)
		}
		r, err := kept.Read(t.Context(), recordedUUID)
		if err != nil || r.Compared == nil || r.Compared.Clean() != (want == "") || want != "" && r.Compared.Differ != 65536 {
			t.Errorf("the record has %+v, %v", r.Compared, err)
		}
	}
}

// What stands on a disk may be the only copy: the refusal names the runbook that uses it, and no command that erases it.
func TestNoRefusalAdvisesToEraseADisk(t *testing.T) {
	for says, want := range map[string]string{
		"mount /mnt/data":        "superdisk/migrate -i local=/dev/ubda -i mount=/mnt/data moves",
		"type xfs":               "plimsoll runbook status names it and how to continue it",
		"type linux_raid_member": "superdisk/emergency-start",
		"holder md127":           "plimsoll superdisk status shows its array",
	} {
		m := pretends(t, "whole")
		m.hasNoArray()
		m.said["readlink -f"] = "size 2097152\n" + says + "\n"
		if strings.Contains(says, "md") || strings.Contains(says, "raid") {
			m.pages["/dev/ubda"] = m.recorded("left.superblock")
		}
		_, err := m.task("superdisk.create", "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt").Check(t.Context(), m.cluster(nil))
		refused(t, err, "/dev/ubda")
		if advice := hint.Of(err); !strings.Contains(advice, want) || strings.Contains(advice, "wipe") || strings.Contains(advice, "zero") {
			t.Errorf("%s: %q, want %s", says, advice, want)
		}
	}
	m := pretends(t, "whole")
	m.hasNoArray()
	m.said["readlink -f"], m.said["blkid -p -O 4194304"] = "size 2097152\n", "xfs"
	_, err := m.task("superdisk.create", "local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt").Check(t.Context(), m.cluster(nil))
	if advice := hint.Of(err); !strings.Contains(advice, "mount -o ro,loop,offset=4194304 /dev/ubda /mnt") || strings.Contains(advice, "dd ") {
		t.Errorf("files of a former array: %q", advice)
	}
}

// An array that is started from one leg has a new bitmap: the record knows that the other leg receives everything, until it is in step again.
func TestTheLegThatAnArrayWasStartedWithoutReceivesEverything(t *testing.T) {
	m := pretends(t, "whole")
	on := m.cluster(nil)
	kept, err := records(on)
	if err != nil {
		t.Fatal(err)
	}
	see := func(look string) {
		t.Helper()
		m.shows(look)
		s, err := superdisk.Inspect(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if s.At = time.Now().UTC(); kept.Note(t.Context(), s) != nil {
			t.Fatal(err)
		}
	}
	whole := func() bool {
		r, err := kept.Read(t.Context(), recordedUUID)
		if err != nil {
			t.Fatal(err)
		}
		return r.Legs["local"].Whole
	}
	see("whole")
	m.shows("network-alone")
	m.unmounts()
	m.said["/proc/self/mounts"] = ""
	m.pages["/dev/md/sd"] = make([]byte, 512)
	if _, err := m.task("superdisk.start-alone", "volume: /dev/ubdb", "mount: /run/mnt").Act(t.Context(), on, call()); err != nil || !m.did("--bitmap=internal") {
		t.Fatalf("%v, ran %q", err, m.ran)
	}
	if !whole() {
		t.Error("the local leg counts as one that receives what was written since")
	}
	if see("network-alone"); !whole() {
		t.Error("a later look forgets it")
	}
	if see("whole"); whole() {
		t.Error("it is in step again, and is to receive everything")
	}
}
