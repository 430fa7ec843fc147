package superdisk

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/superdisk"
)

func TestAStaleLegIsKnownHoweverItIsNamed(t *testing.T) {
	m := pretends(t, "whole")
	m.hasNoArray()
	m.pages["/dev/ubdb"] = m.recorded("left.superblock") // it left the array in step, and does not know what was written since
	on := m.cluster(nil)
	kept, err := records(on)
	if err != nil {
		t.Fatal(err)
	}
	stale := superdisk.LegRecord{Role: superdisk.Network, Since: time.Now().Add(-time.Hour), Seen: time.Now()}
	sound := superdisk.LegRecord{Role: superdisk.Network, InStep: true, Since: time.Now(), Seen: time.Now()}
	for name, c := range map[string]struct {
		serial string
		legs   map[string]superdisk.LegRecord
		stale  bool
	}{
		"by its serial number":                 {"vol1", map[string]superdisk.LegRecord{"vol-1": stale}, true},
		"another of its role is out of step":   {"vol1", map[string]superdisk.LegRecord{"vol-1": sound, "vol-2": stale}, false},
		"no serial number, recorded by role":   {"", map[string]superdisk.LegRecord{"network": stale}, true},
		"no serial number, recorded by number": {"", map[string]superdisk.LegRecord{"vol-1": stale}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m.said["device $d"] = "device ubda 1048576\ndevice ubdb 1048576 " + c.serial + "\n"
			if err := kept.Write(t.Context(), superdisk.Record{Array: recordedUUID, Legs: c.legs}); err != nil {
				t.Fatal(err)
			}
			r, err := m.task("superdisk.start-alone", "volume: /dev/ubdb", "mount: /run/mnt").Check(t.Context(), on)
			if c.stale {
				refused(t, err, "this leg has been out of step since")
			} else if err != nil || r.Observed["in_doubt"] != false {
				t.Errorf("it is recorded as in step: %v, %v", r, err)
			}
		})
	}
}

// An array that a migration had begun to fill is not served from: the files that were not copied would be missing.
func TestAnArrayThatIsFilledInPartIsNotStarted(t *testing.T) {
	for filling, served := range map[superdisk.Filling]bool{superdisk.Begun: false, superdisk.Filled: true} {
		m := pretends(t, "whole")
		m.hasNoArray()
		m.pages["/dev/ubdb"] = m.recorded("left.superblock")
		m.texts["/run/mnt/"+superdisk.FillingMark] = string(filling) + "\n"
		_, err := m.task("superdisk.start-alone", "volume: /dev/ubdb", "mount: /run/mnt").Act(t.Context(), m.cluster(nil), action.Call{Progress: func(float64, string) {}})
		unmounted := slices.Contains(m.ran, "umount /run/mnt")
		if served && (err != nil || unmounted) {
			t.Errorf("%s: %v, unmounted: %v", filling, err, unmounted)
		}
		if !served {
			refused(t, err, "has only a part of the files")
			if !unmounted {
				t.Error("it stays mounted")
			}
		}
	}
}

// Whoever is killed while an array is started from one leg has recorded before that the other is out of step: it would count as in step for some minutes,
// and be started alone without a question. A start that does not come about leaves the record as it was.
func TestTheOtherLegIsRecordedAsOutOfStepBeforeOneIsStarted(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(m *pretend)
		act     func(m *pretend, on *cluster.Cluster) error
		first   string // command that starts it
		serves  string // the leg
		fails   bool
	}{
		"started":                     {func(*pretend) {}, startsNetwork, "mdadm --assemble", "network", false},
		"not started, as mdadm fails": {func(m *pretend) { m.fails["mdadm --assemble"] = 1 }, startsNetwork, "mdadm --assemble", "network", true},
		"assembled, with the bitmap to be made": {func(m *pretend) {
			m.shows("network-alone")
			m.unmounts()
		}, startsNetwork, "--bitmap=none", "network", false},
		"started again by an undo": {func(m *pretend) {
			m.said["for b in *"] = "ubda\nubdb"
			m.pages["/dev/ubda"], m.pages["/dev/ubdb"] = m.recorded("stale.superblock"), m.recorded("alone.superblock")
		}, func(m *pretend, on *cluster.Cluster) error {
			c := call()
			c.Before = action.Facts{"array": recordedUUID, "mounted": "/run/mnt", "missing": float64(0)}
			err := m.task("superdisk.stop", "mount: /run/mnt").(action.Undoer).Undo(t.Context(), on, c)
			if action.RemainsOf(err) != nil { // the other leg is missing
				err = nil
			}
			return err
		}, "mdadm --assemble --run", "network", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, "whole")
			m.hasNoArray()
			m.pages["/dev/ubdb"] = m.recorded("left.superblock")
			c.prepare(m)
			on := m.cluster(nil)
			kept, err := records(on)
			if err != nil {
				t.Fatal(err)
			}
			seen := superdisk.LegRecord{InStep: true, Since: time.Now(), Seen: time.Now()}
			before := superdisk.Record{Array: recordedUUID, Legs: map[string]superdisk.LegRecord{"local": seen, "network": seen}}
			if err := kept.Write(t.Context(), before); err != nil {
				t.Fatal(err)
			}
			looked := false
			m.runs = func(line string) {
				if !strings.Contains(line, c.first) {
					return
				}
				looked = true
				r, err := kept.Read(t.Context(), recordedUUID)
				if other := r.Legs["local"]; err != nil || other.InStep || !other.Whole || !r.Legs["network"].InStep {
					t.Errorf("before the start the record is %+v, %v", r.Legs, err)
				}
			}
			if err := c.act(m, on); (err != nil) != c.fails {
				t.Fatal(err)
			}
			r, err := kept.Read(t.Context(), recordedUUID)
			if !looked || err != nil || r.Legs["local"].InStep != c.fails || r.Legs["local"].Whole == c.fails {
				t.Errorf("looked before it: %v; afterwards the record is %+v, %v", looked, r.Legs, err)
			}
		})
	}
}

func startsNetwork(m *pretend, on *cluster.Cluster) error {
	_, err := m.task("superdisk.start-alone", "volume: /dev/ubdb", "mount: /run/mnt").Act(context.Background(), on, call())
	return err
}

// The undo of a start leaves an array assembled that was so before, and of a creation one that was there.
func TestAnUndoLeavesAnArrayThatWasThereBefore(t *testing.T) {
	for name, with := range map[string][]string{
		"superdisk.start":       {"uuid: " + recordedUUID, "mount: /run/mnt"},
		"superdisk.start-alone": {"volume: /dev/ubdb", "mount: /run/mnt"},
		"superdisk.create":      {"local: /dev/ubda", "network: /dev/ubdb", "mount: /run/mnt"},
	} {
		m := pretends(t, "whole")
		c := call()
		c.Before = action.Facts{"array": recordedUUID, "mounted": ""}
		err := m.task(name, with...).(action.Undoer).Undo(t.Context(), m.cluster(nil), c)
		if err != nil || !m.did("umount /run/mnt") || m.did("mdadm") || m.did("wipe") {
			t.Errorf("%s: %v, ran %q", name, err, m.ran)
		}
		m.ran = nil
		m.unmounts()
		if err := m.task(name, with...).(action.Undoer).Undo(t.Context(), m.cluster(nil), c); err != nil || len(m.ran) > 0 {
			t.Errorf("%s, repeated: %v, ran %q", name, err, m.ran)
		}
	}
}
