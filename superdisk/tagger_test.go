package superdisk

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/uml"
)

// asked counts what a provider is asked for.
type asked struct {
	infra.Volumes
	looks, tags int
	fails       error
}

func (a *asked) Describe(ctx context.Context, id string) (infra.Volume, error) {
	a.looks++
	return a.Volumes.Describe(ctx, id)
}

func (a *asked) Tag(ctx context.Context, id string, tags map[string]string) error {
	a.tags++
	if a.fails != nil {
		return a.fails
	}
	return a.Volumes.Tag(ctx, id, tags)
}

// A watch keeps the tags of the volumes: each change at once, and once a minute that nothing has changed, so that Plimsoll on another host believes what it
// reads there. The provider is asked for no more than that.
func TestAWatchKeepsTheTagsOfTheVolumes(t *testing.T) {
	ctx, machine := t.Context(), here(t)
	volumes := &asked{Volumes: &uml.Volumes{Host: machine, Folder: t.TempDir()}}
	v, err := volumes.Create(ctx, infra.VolumeSpec{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const uuid = "28a3a8d4:332e3a38:b44f3550:7dbde5c0"
	network := Leg{Role: Network, Device: "/dev/vda", Volume: v.ID, State: []string{"in_sync", "write_mostly"}}
	array := Array{UUID: uuid, Name: "superdisk", State: "clean", Mount: "/mnt", Slots: 2, Legs: []Leg{{Role: Local, Device: "/dev/vdb", Volume: "AWS1", State: []string{"in_sync"}}, network}}
	records := Records{Machine: machine, Folder: t.TempDir()}
	tagging := records
	tagging.Volumes = volumes
	now, end := time.Now(), time.Time{}
	var tagger Tagger
	var failed error
	watch := func(a Array, until time.Duration) {
		t.Helper()
		volumes.looks, volumes.tags, failed = 0, 0, nil
		for end = now.Add(until); now.Before(end); now = now.Add(2 * time.Second) {
			seen := Status{Machine: "m1", At: now, Arrays: []Array{a}}
			if err := records.Note(ctx, seen); err != nil {
				t.Fatal(err)
			}
			failed = errors.Join(failed, tagger.Note(ctx, tagging, seen))
		}
	}
	tag := func() LegRecord {
		t.Helper()
		is, err := volumes.Volumes.Describe(ctx, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := tagged(is, uuid)
		return r
	}
	watch(array, 10*time.Minute)
	if age := now.Sub(tag().Seen); failed != nil || !tag().InStep || age > retag+2*time.Second || volumes.tags > 10 || volumes.looks > 20 {
		t.Errorf("in step: %v, %s old, %+v; %d tags and %d looks in ten minutes", failed, age, tag(), volumes.tags, volumes.looks)
	}
	alone := array
	alone.Legs, alone.Degraded = array.Legs[:1], 1
	left := now
	watch(alone, 10*time.Minute)
	if is := tag(); failed != nil || is.InStep || is.Since.Sub(left).Abs() > time.Second || volumes.tags != 1 {
		t.Errorf("it has left: %v, %+v since %s; %d tags in ten minutes", failed, is, left, volumes.tags)
	}
	watch(array, 2*time.Second)
	if !tag().InStep || volumes.tags != 1 {
		t.Errorf("it came back: %+v, %d tags", tag(), volumes.tags)
	}
	watch(alone, 12*time.Second) // soon after
	if tag().InStep || volumes.tags != 1 {
		t.Errorf("it left again: %+v, %d tags", tag(), volumes.tags)
	}
	volumes.fails = errors.New("UnauthorizedOperation")
	watch(array, time.Minute)
	if failed == nil || volumes.tags > 6 {
		t.Errorf("a provider that refuses: %v, asked %d times in a minute", failed, volumes.tags)
	}
	volumes.fails = nil
	watch(array, tagRest+2*time.Second)
	if !tag().InStep {
		t.Errorf("the provider tags again, and it is recorded as %+v", tag())
	}
	for _, c := range []struct {
		what string
		at   time.Duration
		kept bool
	}{{"another host saw later that it left", 30 * time.Second, true}, {"a host whose clock is wrong", time.Hour, false}} {
		data, err := json.Marshal(legTag{uuid, LegRecord{Role: Network, Seen: now.Add(c.at), Since: now}})
		if err != nil {
			t.Fatal(err)
		}
		if err := volumes.Volumes.Tag(ctx, v.ID, map[string]string{LegTag: string(data)}); err != nil {
			t.Fatal(err)
		}
		tagger = Tagger{}
		watch(array, 2*time.Second)
		if kept := !tag().InStep; kept != c.kept {
			t.Errorf("%s: its tag is kept: %v", c.what, kept)
		}
	}
}
