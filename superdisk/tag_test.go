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
	array := Array{UUID: uuid, Name: "superdisk", State: "clean", Mount: "/mnt", Slots: 2, Legs: []Leg{
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

// A volume that left one array and became a leg of another is recorded as the other's: a look at the first array does not take that from it, and the
// record of neither counts as old.
func TestTwoArraysDoNotOverwriteEachOthersTags(t *testing.T) {
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
	array := func(uuid string, legs ...Leg) Array {
		return Array{UUID: uuid, Name: "superdisk", State: "clean", Mount: "/mnt", Slots: 2, Degraded: 2 - len(legs), Legs: legs}
	}
	own, moves := Leg{Role: Local, Device: "/dev/vda", State: []string{"in_sync"}}, Leg{Role: Network, Device: "/dev/vdb", Volume: v.ID, State: []string{"in_sync", "write_mostly"}}
	records := Records{Machine: here, Folder: t.TempDir(), Volumes: volumes}
	now := time.Now()
	first, second := array("1:1:1:1", own), array("2:2:2:2", own, moves)
	for _, a := range []Array{array("1:1:1:1", own, moves), first, second, first, second} {
		now = now.Add(2 * retag)
		if err := records.Note(ctx, Status{Machine: "m", At: now, Arrays: []Array{a}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []Array{first, second, first} {
		if told, err := records.Tells(ctx, a); err != nil || !told {
			t.Errorf("the record of %s tells it: %v, %v", a.UUID, told, err)
		}
		if err := records.Note(ctx, Status{Machine: "m", At: now, Arrays: []Array{a}}); err != nil {
			t.Fatal(err)
		}
	}
	is, err := volumes.Describe(ctx, v.ID)
	if err != nil || !ofAnother(is, first.UUID) {
		t.Errorf("the volume is recorded as %q, %v", is.Tags[LegTag], err)
	}
}
