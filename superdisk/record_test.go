package superdisk

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
)

// Once a leg has left, what a comparison found is history, whoever sees it leave: it is neither forgotten nor taken for the state of the legs now. A leg
// that is only re-added keeps what differed.
func TestAComparisonIsHistoryOnceALegHasLeft(t *testing.T) {
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	whole, local := recorded(t, "whole").Arrays[0], recorded(t, "network-removed").Arrays[0]
	differ := &Compared{At: begin, Differ: 65536, InFiles: 8192, Files: []string{"ibdata1"}}
	var r Record
	r.Note(whole, "m1", begin)
	r.Compared = differ
	r.Note(whole, "m1", begin.Add(time.Minute))
	if r.Compared.Outdated() {
		t.Error("it is history before anything has changed")
	}
	advice := func(a Array) Advice {
		t.Helper()
		all := Advise(a, KernelOf("6.1.0"), r)
		if len(all) == 0 || !strings.HasPrefix(all[len(all)-1].Text, "compared at 2026-01-01 12:00:00Z") {
			t.Fatalf("it is forgotten: %+v", all)
		}
		return all[len(all)-1]
	}
	const history = ", before a leg left or came back at 2026-01-01 12:02:00Z: the legs differed in 8192 bytes of files (ibdata1)"
	r.Note(local, "m1", begin.Add(2*time.Minute))
	if got := advice(local); !strings.Contains(got.Text, history) || !strings.Contains(got.Do, "one that is only re-added keeps what differed") {
		t.Errorf("with one leg: %+v", got)
	}
	if all := Advise(local, KernelOf("6.1.0"), r); !strings.HasSuffix(all[0].Do, "superdisk/reattach-network --cluster CLUSTER -i node=NODE -i network=FILL_IN") {
		t.Errorf("the leg that differed is to be re-added: %+v", all[0])
	}
	r.Note(whole, "m1", begin.Add(3*time.Minute))
	if got := advice(whole); !strings.Contains(got.Text, history) || !strings.Contains(got.Do, "plimsoll runbook run superdisk/check") {
		t.Errorf("re-added: %+v", got)
	}
	if differ.Outdated() {
		t.Error("what was compared was changed in place")
	}

	kept := Records{Machine: here(t), Folder: t.TempDir()}
	for name, change := range map[string]func() error{
		"a leg is taken out": func() error { return kept.Leaves(t.Context(), Status{At: begin.Add(time.Hour)}, whole, whole.Legs[1]) },
		"an array is started without one": func() error {
			_, err := kept.StartsAlone(t.Context(), whole.UUID, "local", begin.Add(time.Hour))
			return err
		},
	} {
		if err := errors.Join(kept.Write(t.Context(), Record{Array: whole.UUID}), kept.HaveCompared(t.Context(), Status{At: begin}, whole, *differ), change()); err != nil {
			t.Fatal(err)
		}
		r, err := kept.Read(t.Context(), whole.UUID)
		if err != nil || r.Compared == nil || !r.Compared.Outdated() {
			t.Errorf("%s: %+v, %v", name, r.Compared, err)
		}
	}
	for want, c := range map[string]Compared{
		"the legs were the same": {LegsChanged: begin},
		"up to 9 bytes of the legs differed, by md's count, and all of them lay where the file system had written nothing; what it uses was the same": {LegsChanged: begin, Differ: 9},
	} {
		if got := c.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func here(t *testing.T) infra.Machine {
	t.Helper()
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A record that cannot be read is an error with its file, and the other arrays of the machine are recorded all the same.
func TestARecordThatIsDamagedHidesNoOther(t *testing.T) {
	kept := Records{Machine: here(t), Folder: t.TempDir()}
	one, two := recorded(t, "whole").Arrays[0], recorded(t, "whole").Arrays[0]
	one.UUID, two.UUID = "1:1:1:1", "2:2:2:2"
	if err := os.WriteFile(filepath.Join(kept.Folder, "1-1-1-1.json"), []byte(`{"array": "1:1`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := kept.Note(t.Context(), Status{Machine: "m1", At: time.Now(), Arrays: []Array{one, two}})
	var advised interface{ Hint() string }
	if !errors.As(err, &advised) || !strings.Contains(advised.Hint(), "1-1-1-1.json") {
		t.Errorf("it says %v", err)
	}
	if r, err := kept.Read(t.Context(), two.UUID); err != nil || len(r.Legs) != 2 {
		t.Errorf("the other is recorded as %+v, %v", r, err)
	}
}

// A start from one leg is recorded before it is done, here and on the volumes: whoever is killed after it leaves no other leg that counts as one that
// has everything.
func TestAStartFromOneLegIsRecordedBeforeIt(t *testing.T) {
	ctx, m := t.Context(), here(t)
	volumes := &uml.Volumes{Host: m, Folder: t.TempDir()}
	v, err := volumes.Create(ctx, infra.VolumeSpec{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	kept := Records{Machine: m, Folder: t.TempDir(), Volumes: volumes}
	now := time.Now().UTC().Truncate(time.Second)
	array := Array{UUID: "1:1:1:1", State: "clean", Slots: 2, Legs: []Leg{
		{Role: Network, Device: "/dev/vda", Volume: v.ID, State: []string{"in_sync", "write_mostly"}},
		{Role: Local, Device: "/dev/vdb", Volume: "AWS1", State: []string{"in_sync"}},
	}}
	for key, other := range map[string]string{v.ID: "AWS1", "AWS1": v.ID} {
		if err := kept.Note(ctx, Status{Machine: "m1", At: now, Arrays: []Array{array}}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
		before, err := kept.StartsAlone(ctx, array.UUID, key, now)
		if err != nil || !before.Legs[other].InStep {
			t.Fatalf("%+v, %v", before, err)
		}
		r, err := kept.Of(ctx, array.UUID, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		if leg := r.Legs[other]; leg.InStep || !leg.Whole || !leg.Since.Equal(now) {
			t.Errorf("the other leg is %+v", leg)
		}
		if leg := r.Legs[key]; !leg.InStep || !leg.Seen.Before(now) {
			t.Errorf("the leg itself is %+v", leg)
		}
		its, err := volumes.Describe(ctx, v.ID)
		if tag, known := tagged(its, array.UUID); err != nil || !known || tag.InStep != (key == v.ID) {
			t.Errorf("the volume says %+v, %v", tag, err)
		}
		now = now.Add(time.Second)
	}
}

// A watch that took its look before a run took a leg out, and records it afterwards, does not bring the leg back into step in the record. A clock that was
// set back is another thing: what it says counts.
func TestALookThatIsRecordedLateChangesNothing(t *testing.T) {
	kept := Records{Machine: here(t), Folder: t.TempDir()}
	whole := recorded(t, "whole").Arrays[0]
	network, _ := whole.Leg(Network)
	begin := time.Now()
	note := func(at time.Time) LegRecord {
		t.Helper()
		if err := kept.Note(t.Context(), Status{Machine: "m1", At: at, Arrays: []Array{whole}}); err != nil {
			t.Fatal(err)
		}
		r, err := kept.Read(t.Context(), whole.UUID)
		if err != nil {
			t.Fatal(err)
		}
		return r.Legs[network.Key()]
	}
	note(begin)
	if err := kept.Leaves(t.Context(), Status{Machine: "m1", At: begin.Add(2 * time.Second)}, whole, network); err != nil {
		t.Fatal(err)
	}
	if leg := note(begin.Add(time.Second)); leg.InStep || !leg.Seen.Equal(begin.Add(2*time.Second)) {
		t.Errorf("a look from before it was taken out: %+v", leg)
	}
	if leg := note(begin.Add(3 * time.Second)); leg.InStep {
		t.Errorf("a look from between the record and its being taken out: %+v", leg)
	}
	if leg := note(begin.Add(3*time.Second + takingOut)); !leg.InStep {
		t.Errorf("it was not taken out: %+v", leg)
	}
	leaves := func(at time.Time) {
		t.Helper()
		if err := kept.Leaves(t.Context(), Status{Machine: "m1", At: at}, whole, network); err != nil {
			t.Fatal(err)
		}
	}
	leaves(begin.Add(20 * time.Second))
	if err := kept.Settle(t.Context(), Status{Machine: "m1", At: begin.Add(21 * time.Second), Arrays: []Array{whole}}); err != nil {
		t.Fatal(err)
	}
	if leg := note(begin.Add(22 * time.Second)); !leg.InStep {
		t.Errorf("who was to take it out has looked since: %+v", leg)
	}
	leaves(begin.Add(time.Hour))
	if leg := note(begin.Add(2 * time.Second)); leg.InStep {
		t.Errorf("a look that is an hour late: %+v", leg)
	}
	if leg := note(begin.Add(4 * time.Second)); !leg.InStep {
		t.Errorf("a clock that was set back by an hour, at the second look: %+v", leg)
	}
	alone := recorded(t, "network-removed").Arrays[0]
	if err := kept.Note(t.Context(), Status{Machine: "m1", At: begin.Add(3 * time.Second), Arrays: []Array{alone}}); err != nil {
		t.Fatal(err)
	}
	if r, err := kept.Read(t.Context(), whole.UUID); err != nil || r.Legs[network.Key()].InStep {
		t.Errorf("a late look that shows it out: %+v, %v", r.Legs, err)
	}
	failed := recorded(t, "network-failed").Arrays[0]
	note(begin.Add(5 * time.Second))
	if err := kept.Note(t.Context(), Status{Machine: "m1", At: begin.Add(4 * time.Second), Arrays: []Array{failed}}); err != nil {
		t.Fatal(err)
	}
	if r, err := kept.Read(t.Context(), whole.UUID); err != nil || r.Legs[network.Key()].InStep || !r.Legs[network.Key()].Seen.Equal(begin.Add(5*time.Second)) {
		t.Errorf("a late look that shows it faulty: %+v, %v", r.Legs, err)
	}
	if err := kept.Leaves(t.Context(), Status{Machine: "m1", At: begin}, whole, network); err != nil { // its clock was set back by seconds
		t.Fatal(err)
	}
	if r, err := kept.Read(t.Context(), whole.UUID); err != nil || r.Legs[network.Key()].InStep {
		t.Errorf("what is about to be done is recorded whatever the clock says: %+v, %v", r.Legs, err)
	}
	if leg := note(begin.Add(-time.Hour)); !leg.Seen.Equal(begin.Add(-time.Hour)) {
		t.Errorf("a clock that was set back: %+v", leg)
	}
}

// A watch and a run that record at the same time do not undo each other's records.
func TestWhoRecordsAtTheSameTimeLosesNothing(t *testing.T) {
	kept := Records{Machine: here(t), Folder: t.TempDir()}
	const many = 24
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			a := Array{UUID: "1:1:1:1", State: "clean", Slots: 2, Legs: []Leg{{Role: Network, Device: "/dev/vda", Volume: "vol-" + strconv.Itoa(n), State: []string{"in_sync", "write_mostly"}}}}
			if err := kept.Note(t.Context(), Status{Machine: "m1", At: time.Now(), Arrays: []Array{a}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r, err := kept.Read(t.Context(), "1:1:1:1"); err != nil || len(r.Legs) != many {
		t.Errorf("%d of %d legs are recorded, %v", len(r.Legs), many, err)
	}
}

// A leg that left does not know it: where something assembles it alone, as when the machine starts, md says that it is in step. That is no news of either
// leg, here or on the volumes, until the array is mounted: then it is what serves.
func TestALegThatIsAssembledAloneIsNotInStep(t *testing.T) {
	ctx, m := t.Context(), here(t)
	volumes := &uml.Volumes{Host: m, Folder: t.TempDir()}
	v, err := volumes.Create(ctx, infra.VolumeSpec{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	kept := Records{Machine: m, Folder: t.TempDir(), Volumes: volumes}
	stale := Leg{Role: Network, Device: "/dev/vda", Volume: v.ID, State: []string{"in_sync", "write_mostly"}}
	good := Leg{Role: Local, Device: "/dev/vdb", Volume: "AWS1", State: []string{"in_sync"}}
	array := func(mount string, legs ...Leg) Array {
		return Array{UUID: "1:1:1:1", State: "clean", Slots: 2, Degraded: 2 - len(legs), Mount: mount, Legs: legs}
	}
	begin := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	look := func(kept Records, after time.Duration, a Array) (Record, LegRecord) {
		t.Helper()
		if err := kept.Note(ctx, Status{Machine: "m1", At: begin.Add(after), Arrays: []Array{a}}); err != nil {
			t.Fatal(err)
		}
		told, err := kept.Tells(ctx, a)
		if err != nil || !told {
			t.Errorf("after a look at %s the record tells it: %v, %v", after, told, err)
		}
		r, err := kept.Read(ctx, a.UUID)
		its, unseen := volumes.Describe(ctx, v.ID)
		if err := errors.Join(err, unseen); err != nil {
			t.Fatal(err)
		}
		tag, _ := tagged(its, a.UUID)
		return r, tag
	}
	look(kept, 0, array("/mnt", good, stale))
	seen, _ := look(kept, time.Minute, array("", stale))
	if leg := seen.Legs[v.ID]; !leg.InStep || !leg.Seen.Equal(begin) || !seen.Legs["AWS1"].InStep {
		t.Errorf("whoever has not seen it leave takes it for seen in step: %+v", seen.Legs)
	}
	look(kept, 2*time.Minute, array("/mnt", good))
	r, tag := look(kept, 3*time.Minute, array("", stale))
	if _, certain := r.Doubt(v.ID, begin.Add(3*time.Minute)); !certain || tag.InStep || !r.Legs["AWS1"].InStep {
		t.Errorf("it is assembled alone: %+v, and the volume says %+v", r.Legs, tag)
	}
	another := Records{Machine: m, Folder: t.TempDir(), Volumes: volumes} // of a host that knows nothing of the array
	if r, tag := look(another, 4*time.Minute, array("", stale)); len(r.Legs) > 0 || tag.InStep {
		t.Errorf("seen from another host: %+v, and the volume says %+v", r.Legs, tag)
	}
	if err := another.Write(ctx, seen); err != nil {
		t.Fatal(err)
	}
	if _, tag := look(another, 5*time.Minute, array("", stale)); tag.InStep {
		t.Errorf("seen from another host, whose record is old, the volume says %+v", tag)
	}
	if r, tag := look(kept, 6*time.Minute, array("/mnt", stale)); !r.Legs[v.ID].InStep || r.Legs["AWS1"].InStep || !tag.InStep {
		t.Errorf("it is mounted: %+v, and the volume says %+v", r.Legs, tag)
	}
}

// Who waits in vain for a record that another process has locked is told for how long.
func TestARecordThatStaysLockedIsToldOf(t *testing.T) {
	m, folder := here(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		kept := Records{Machine: m, Folder: folder}
		release, err := m.Lock(t.Context(), kept.file("1:1:1:1")+".lock")
		if err != nil {
			t.Fatal(err)
		}
		_, err = kept.StartsAlone(t.Context(), "1:1:1:1", "local", time.Now())
		if !errors.Is(err, infra.ErrLocked) || !strings.Contains(err.Error(), "was locked for 10s") {
			t.Errorf("it says %v", err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	})
}
