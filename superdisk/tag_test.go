package superdisk

import (
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
)

// What one Plimsoll saw of a leg is known to another that has never seen the array, by the tag of the leg's volume.
func TestARecordTravelsWithTheVolume(t *testing.T) {
	ctx := t.Context()
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	volumes := &uml.Volumes{Host: here, Folder: t.TempDir()}
	v, err := volumes.Create(ctx, infra.VolumeSpec{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const uuid = "28a3a8d4:332e3a38:b44f3550:7dbde5c0"
	now := time.Now().UTC().Truncate(time.Second)
	array := Array{UUID: uuid, Name: "superdisk", State: "clean", Slots: 2, Legs: []Leg{
		{Role: Network, Device: "/dev/vda", Volume: v.ID, State: []string{"in_sync", "write_mostly"}},
		{Role: Local, Device: "/dev/vdb", State: []string{"in_sync"}},
	}}
	one := Records{Machine: here, Folder: t.TempDir(), Volumes: volumes}
	note := func(a Array, at time.Time) {
		t.Helper()
		if err := one.Note(ctx, Status{Machine: strings.Repeat("n", 200), At: at, Arrays: []Array{a}}); err != nil {
			t.Fatal(err)
		}
	}
	two := Records{Machine: here, Folder: t.TempDir(), Volumes: volumes}
	doubt := func(at time.Time) (string, bool) {
		t.Helper()
		r, err := two.Of(ctx, uuid, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return r.Doubt(v.ID, at)
	}
	if why, _ := doubt(now); !strings.Contains(why, "no record says") {
		t.Errorf("before anybody looked: %q", why)
	}
	note(array, now)
	if why, certain := doubt(now.Add(time.Second)); why != "" || certain {
		t.Errorf("in step: %q", why)
	}
	array.Legs, array.Degraded = array.Legs[1:], 1 // the network leg has left, and the local one serves
	note(array, now.Add(10*time.Second))
	if why, certain := doubt(now.Add(time.Hour)); !certain || !strings.Contains(why, "out of step since") {
		t.Errorf("out of step: %q, certain %v", why, certain)
	}
	tagged, err := volumes.Describe(ctx, v.ID)
	if err != nil || len(tagged.Tags[LegTag]) > longestTag || tagged.Tags[LegTag] == "" {
		t.Errorf("tag of %d characters, want at most %d: %v", len(tagged.Tags[LegTag]), longestTag, err)
	}
}
