package superdisk

import (
	"slices"
	"testing"
	"time"

	"plimsoll/action"
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
