package superdisk

import (
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/superdisk"
)

// A Plimsoll that is killed after a change and before its record leaves a record that takes a leg out of step for one that has everything. The
// run that goes on finds the array as intended, and comes to the record all the same.
func TestAnActThatWasCutOffBeforeItsRecordIsNotDone(t *testing.T) {
	for name, c := range map[string]struct {
		look, action string
		with         []string
		network      superdisk.LegRecord // as it was recorded before
	}{
		"a leg was taken out":      {"network-removed", "superdisk.detach", nil, superdisk.LegRecord{Role: superdisk.Network, InStep: true}},
		"a leg was given up":       {"network-removed", "superdisk.give-up", nil, superdisk.LegRecord{Role: superdisk.Network, InStep: true}},
		"a leg came back":          {"whole", "superdisk.rebuild", []string{"leg: network", "volume: /dev/ubdb"}, superdisk.LegRecord{Role: superdisk.Network}},
		"a copy was waited for":    {"whole", "superdisk.wait-whole", nil, superdisk.LegRecord{Role: superdisk.Network}},
		"both legs were started":   {"whole", "superdisk.start", []string{"uuid: " + recordedUUID, "mount: /run/mnt"}, superdisk.LegRecord{Role: superdisk.Network}},
		"one leg was started":      {"whole", "superdisk.start-alone", []string{"volume: /dev/ubdb", "mount: /run/mnt"}, superdisk.LegRecord{Role: superdisk.Network}},
		"an array was made":        {"whole", "superdisk.create", []string{"local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt"}, superdisk.LegRecord{Role: superdisk.Network}},
		"the data was moved to it": {"whole", "superdisk.migrate", []string{"local: /dev/vdz", "network: /dev/ubdb", "mount: /run/mnt"}, superdisk.LegRecord{Role: superdisk.Network}},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, c.look)
			on := m.cluster(&provider{})
			kept, err := records(on)
			if err != nil {
				t.Fatal(err)
			}
			kept.Volumes = nil // this provider keeps no tags
			now := time.Now()
			c.network.Since, c.network.Seen = now, now
			legs := map[string]superdisk.LegRecord{"local": {Role: superdisk.Local, InStep: true, Since: now, Seen: now}, "network": c.network}
			if err := kept.Write(t.Context(), superdisk.Record{Array: recordedUUID, Legs: legs}); err != nil {
				t.Fatal(err)
			}
			on.Volumes = nil
			if c.action == "superdisk.give-up" {
				on.Volumes = &provider{}
			}
			task := m.task(c.action, c.with...)
			r, err := task.Check(t.Context(), on)
			if err != nil || r.State != action.Needed || !strings.Contains(r.Reason, "only Plimsoll's record of its legs is written") {
				t.Fatalf("with the old record: %+v, %v", r, err)
			}
			if _, err := task.Act(t.Context(), on, call()); err != nil {
				t.Fatal(err)
			}
			if m.did("mdadm") {
				t.Errorf("the array is as it should be: ran %q", m.ran)
			}
			on.Volumes = nil
			s, err := superdisk.Inspect(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := s.Find("sd")
			if told, err := kept.Tells(t.Context(), a); err != nil || !told {
				t.Errorf("after the act the record tells it: %v, %v", told, err)
			}
			undoer, undoes := task.(action.Undoer)
			if !undoes {
				return
			}
			undo := call()
			undo.Before = r.Observed
			m.ran = nil
			if err := undoer.Undo(t.Context(), on, undo); err != nil || m.did("mdadm") || m.did("umount") || m.did("wipe") {
				t.Errorf("the undo of an act that only recorded: %v, ran %q", err, m.ran)
			}
		})
	}
}

// A Plimsoll that is killed right after it has taken a leg out has recorded that: for some minutes a leg that was just seen in step is started alone
// without a question.
func TestALegIsRecordedAsOutOfStepBeforeItIsTakenOut(t *testing.T) {
	for name, c := range map[string]struct {
		out func(m *pretend, on *cluster.Cluster) error
	}{
		"detached": {func(m *pretend, on *cluster.Cluster) error {
			_, err := m.task("superdisk.detach").Act(t.Context(), on, call())
			return err
		}},
		"a rebuild that is undone": {func(m *pretend, on *cluster.Cluster) error {
			return m.task("superdisk.rebuild", "leg: network", "volume: /dev/ubdb").(action.Undoer).Undo(t.Context(), on, call())
		}},
		"given up": {func(m *pretend, on *cluster.Cluster) error {
			s, err := superdisk.Inspect(t.Context(), m)
			if err != nil {
				return err
			}
			a, _ := s.Find("sd")
			leg, _ := a.Leg(superdisk.Network)
			_, err = m.task("superdisk.give-up").(*giveUp).take(t.Context(), on, m, a, leg)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			asked := false
			volumes := &provider{}
			on := m.cluster(volumes)
			kept, err := records(on)
			if err != nil {
				t.Fatal(err)
			}
			look := func() {
				asked = true
				r, err := kept.Read(t.Context(), recordedUUID)
				if err != nil || r.Legs["network"].InStep || !r.Legs["local"].InStep {
					t.Errorf("before the leg is taken out, the record is %+v, %v", r, err)
				}
			}
			volumes.taking = look
			m.runs = func(line string) {
				if strings.Contains(line, "--fail /dev/ubdb") {
					look()
				}
			}
			m.fails["--fail /dev/ubdb"] = 1
			if err := c.out(m, on); name != "given up" && err == nil {
				t.Error("md has refused it, and it is said to be out")
			}
			if r, err := kept.Read(t.Context(), recordedUUID); err != nil || !asked || !r.Legs["network"].InStep { // this machine always shows it in step
				t.Errorf("afterwards it is not as md says: %+v, %v", r, err)
			}
		})
	}
}

// A new leg is recorded as out of step before it is filled: whoever is killed, and loses the machine, when it has its superblock and md has not taken it yet
// must not find a leg that nothing speaks against.
func TestALegIsRecordedAsOutOfStepBeforeItIsFilled(t *testing.T) {
	m := pretends(t, "network-removed")
	m.said["device $d"], m.said["readlink -f"] = "device ubda 2097152 AWS1\ndevice ubdb 2097152 vol7\n", "size 2097152\ntype linux_raid_member\n"
	m.pages["/dev/ubda"], m.pages["/dev/ubdb"] = m.localAlone(), m.recorded("left.superblock")
	on := m.cluster(nil)
	kept, err := records(on)
	if err != nil {
		t.Fatal(err)
	}
	before := superdisk.Record{Array: recordedUUID, Legs: map[string]superdisk.LegRecord{"vol-7": {Role: superdisk.Network, InStep: true, Since: time.Now(), Seen: time.Now()}}}
	if err := kept.Write(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	filled := false
	m.runs = func(line string) {
		if !strings.Contains(line, "add --write-mostly /dev/ubdb") {
			return
		}
		filled = true
		r, err := kept.Read(t.Context(), recordedUUID)
		if leg, known := r.Legs["vol-7"]; err != nil || !known || leg.InStep {
			t.Errorf("before it is filled the record is %+v, %v", r.Legs, err)
		}
		m.shows("whole")
	}
	if _, err := m.task("superdisk.rebuild", "leg: network", "volume: vol-7").Act(t.Context(), on, call()); err != nil || !filled {
		t.Errorf("%v, ran %q", err, m.ran)
	}
}

// The record on a volume counts as well: Plimsoll on another host knows no other.
func TestATagThatIsOldIsNoRecord(t *testing.T) {
	m := pretends(t, "whole")
	volumes := &provider{}
	on := m.cluster(volumes)
	if err := note(t.Context(), on, m); err != nil { // this provider forgets what is tagged
		t.Fatal(err)
	}
	if r, err := m.task("superdisk.wait-whole").Check(t.Context(), on); err != nil || r.State != action.Needed {
		t.Errorf("the volume is not tagged: %+v, %v", r, err)
	}
	on.Volumes = nil
	if r, err := m.task("superdisk.wait-whole").Check(t.Context(), on); err != nil || r.State != action.Satisfied {
		t.Errorf("there are no volumes to tag: %+v, %v", r, err)
	}
}

// An array that was started from one leg by an act that was cut off gets its bitmap all the same: without one, every leg that comes back later would be
// copied whole.
func TestAStartFromOneLegThatWasCutOffMakesTheBitmap(t *testing.T) {
	m := pretends(t, "network-removed")
	m.unmounts()
	start := m.task("superdisk.start-alone", "volume: /dev/ubda", "mount: /run/mnt")
	if _, err := start.Act(t.Context(), m.cluster(nil), call()); err != nil {
		t.Fatal(err)
	}
	if !m.did("--grow --bitmap=internal") || !m.did("mount /dev/md/sd /run/mnt") {
		t.Errorf("ran %q", m.ran)
	}
	m.shows("network-removed") // it is mounted: to make the bitmap anew under load has been seen to deadlock
	m.ran = nil
	if _, err := start.Act(t.Context(), m.cluster(nil), call()); err != nil || m.did("--grow") {
		t.Errorf("it is mounted: %v, ran %q", err, m.ran)
	}
	m.shows("network-recovers") // assembled at boot: md refuses to change a bitmap during a copy
	m.unmounts()
	m.ran = nil
	if _, err := start.Act(t.Context(), m.cluster(nil), call()); err != nil || m.did("--grow") || !m.did("mount /dev/md/sd /run/mnt") {
		t.Errorf("md copies: %v, ran %q", err, m.ran)
	}
}

// A leg whose volume was taken away, by an act that was cut off before md let go of it, is let go of.
func TestALegThatWasTakenAwayIsLetGoOf(t *testing.T) {
	m := pretends(t, "network-failed")
	volumes := &provider{}
	task := m.task("superdisk.give-up", "after: 1s", "for: 1s")
	if r, err := task.Check(t.Context(), m.cluster(volumes)); err != nil || r.State != action.Needed {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := task.Act(t.Context(), m.cluster(volumes), call()); err != nil || !m.did("--remove failed") || len(volumes.taken) > 0 {
		t.Errorf("%v, ran %q, taken away %v", err, m.ran, volumes.taken)
	}
}

// An array whose network leg has served on another machine is started from that leg when its stop is undone: the other lacks what was written there,
// and md must not choose.
func TestAStopIsUndoneFromTheLegThatServedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct{ local, network, does, refusal string }{
		"neither":                  {"stale", "left", "mdadm --assemble /dev/md/sd /dev/ubda /dev/ubdb", ""},
		"the network's":            {"stale", "alone", "mdadm --assemble --run /dev/md/sd /dev/ubdb", ""},
		"both":                     {"", "alone", "", "have both served without the other leg"},
		"the volume and its copy":  {"left", "left", "", "/dev/ubda and /dev/ubdb of local say that they are the same leg"},
		"the volume, and no other": {"none", "left", "", "1 of 2 legs"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			m.hasNoArray()
			m.said["for b in *"] = "ubda\nubdb"
			m.pages["/dev/ubdb"] = m.recorded(c.network + ".superblock")
			switch c.local {
			case "":
				m.pages["/dev/ubda"] = m.localAlone()
			case "none":
			default:
				m.pages["/dev/ubda"] = m.recorded(c.local + ".superblock")
			}
			undone := call()
			undone.Before = action.Facts{"array": recordedUUID, "mounted": "/run/mnt", "missing": float64(0)}
			err := m.task("superdisk.stop", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), m.cluster(nil), undone)
			if c.does == "" {
				if refused(t, err, c.refusal); m.did("mdadm") {
					t.Errorf("ran %q", m.ran)
				}
				return
			}
			remains := action.RemainsOf(err)
			if remains == nil && err != nil || !m.did(c.does) || !m.did("mount /dev/md/sd /run/mnt") {
				t.Errorf("%v, ran %q", err, m.ran)
			}
			if told := remains != nil && remains.What == "array sd of node n1" && strings.Contains(remains.Why, "superdisk/rebuild -i node=n1"); told != (c.network == "alone") {
				t.Errorf("the undo says %v", err)
			}
		})
	}
}

// An undo of a stop that was cut off while md assembled the array leaves a part of it, which cannot be mounted: it is stopped, and the array started anew.
func TestAnUndoOfAStopGoesOnFromWhatIsHalfAssembled(t *testing.T) {
	m := pretends(t, "inactive")
	m.says = strings.ReplaceAll(m.says, "/dev/md126", "/dev/md127") // the name sd is its
	m.said["for b in *"] = "ubda\nubdb"
	m.pages["/dev/ubda"], m.pages["/dev/ubdb"] = m.recorded("stale.superblock"), m.recorded("left.superblock")
	m.runs = func(line string) {
		if strings.HasPrefix(line, "mdadm --assemble") && !m.did("mdadm --stop /dev/md127") {
			t.Errorf("assembled beside what is half assembled: ran %q", m.ran)
		}
	}
	undone := call()
	undone.Before = action.Facts{"array": recordedUUID, "mounted": "/run/mnt", "missing": float64(0)}
	err := m.task("superdisk.stop", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), m.cluster(nil), undone)
	if err != nil || !m.did("mdadm --assemble /dev/md/sd /dev/ubda /dev/ubdb") || !m.did("mount /dev/md/sd /run/mnt") {
		t.Errorf("%v, ran %q", err, m.ran)
	}
}

// The undo of a stop that is repeated, as its process was killed after the array was started from one leg, says what remains all the same. An array that
// had one leg before is as it was.
func TestAnUndoThatIsRepeatedSaysThatALegIsMissing(t *testing.T) {
	for missing, told := range map[any]bool{float64(0): true, 1: false, float64(1): false} {
		m := pretends(t, "network-removed")
		undone := call()
		undone.Before = action.Facts{"array": recordedUUID, "mounted": "/run/mnt", "missing": missing}
		err := m.task("superdisk.stop", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), m.cluster(nil), undone)
		if remains := action.RemainsOf(err); (remains != nil) != told || remains == nil && err != nil || m.did("mdadm") {
			t.Errorf("%v missing before: %v, ran %q", missing, err, m.ran)
		}
	}
}
