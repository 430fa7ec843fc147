package superdisk

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/uml"
)

// asked counts what a provider is asked for.
type asked struct {
	infra.Volumes
	looks, tags int
	fails       error
	tagging     func() // after a tag
	hangs       bool
}

func (a *asked) Describe(ctx context.Context, id string) (infra.Volume, error) {
	a.looks++
	if a.hangs {
		<-ctx.Done()
		return infra.Volume{}, ctx.Err()
	}
	return a.Volumes.Describe(ctx, id)
}

func (a *asked) Tag(ctx context.Context, id string, tags map[string]string) error {
	a.tags++
	if a.fails != nil {
		return a.fails
	}
	err := a.Volumes.Tag(ctx, id, tags)
	if a.tagging != nil {
		a.tagging()
	}
	return err
}

// A watch keeps the tags of the volumes: each change after ten seconds at most, and once a minute that nothing has changed, so that Plimsoll on another host believes what it
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

// pair is an array whose network leg is a volume of a provider, and the records of a host that looks at it.
func pair(t *testing.T) (volumes *asked, records Records, whole Array) {
	t.Helper()
	machine := here(t)
	volumes = &asked{Volumes: &uml.Volumes{Host: machine, Folder: t.TempDir()}}
	v, err := volumes.Create(t.Context(), infra.VolumeSpec{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return volumes, Records{Machine: machine, Folder: t.TempDir()}, Array{UUID: "1:1:1:1", State: "clean", Slots: 2, Mount: "/mnt", Legs: []Leg{
		{Role: Local, Device: "/dev/vdb", Volume: "AWS1", State: []string{"in_sync"}},
		{Role: Network, Device: "/dev/vda", Volume: v.ID, State: []string{"in_sync", "write_mostly"}},
	}}
}

// What another host has recorded on a volume of a leg that has left counts while it is renewed. What it recorded before that, by a clock that is ahead, does
// not stay.
func TestTheTagOfALegThatHasLeftIsNotKeptForEver(t *testing.T) {
	for name, c := range map[string]struct {
		says   LegRecord
		renews bool
		inStep bool
		tags   int // that this watch writes
	}{
		"in step, by a clock that is ahead":                  {LegRecord{Role: Network, InStep: true}, false, false, 1},
		"in step, again and again":                           {LegRecord{Role: Network, InStep: true}, true, true, 0},
		"out of step, and everything to be copied":           {LegRecord{Role: Network, Whole: true}, false, false, 0},
		"out of step, and everything to be copied, as often": {LegRecord{Role: Network, Whole: true}, true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			volumes, records, alone := pair(t)
			ctx, key := t.Context(), alone.Legs[1].Volume
			tagging := records
			tagging.Volumes = volumes
			now := time.Now()
			other := func(at time.Time) {
				t.Helper()
				c.says.Since, c.says.Seen = at, at
				data, err := json.Marshal(legTag{alone.UUID, c.says})
				if err == nil {
					err = volumes.Volumes.Tag(ctx, key, map[string]string{LegTag: string(data)})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			tag := func() LegRecord {
				t.Helper()
				is, err := volumes.Volumes.Describe(ctx, key)
				if err != nil {
					t.Fatal(err)
				}
				r, _ := tagged(is, alone.UUID)
				return r
			}
			if err := records.Note(ctx, Status{Machine: "m1", At: now, Arrays: []Array{alone}}); err != nil {
				t.Fatal(err)
			}
			alone.Legs, alone.Degraded = alone.Legs[:1], 1
			other(now.Add(50 * time.Second))
			var tagger Tagger
			for end := now.Add(10 * time.Minute); now.Before(end); now = now.Add(2 * time.Second) {
				if c.renews && now.Second()%30 < 2 {
					other(now.Add(time.Second))
				}
				seen := Status{Machine: "m1", At: now, Arrays: []Array{alone}}
				if err := errors.Join(records.Note(ctx, seen), tagger.Note(ctx, tagging, seen)); err != nil {
					t.Fatal(err)
				}
			}
			if is := tag(); is.InStep != c.inStep || is.Whole != c.says.Whole || volumes.tags != c.tags {
				t.Errorf("the volume says %+v; tagged %d times", is, volumes.tags)
			}
			if r, err := tagging.Of(ctx, alone.UUID, key); err != nil || r.Legs[key].InStep != c.inStep {
				t.Errorf("what counts is %+v, %v", r.Legs[key], err)
			}
		})
	}
}

// A run that takes a leg out while a watch tags its volume has the last word there.
func TestAWatchDoesNotTagOverWhatARunHasRecorded(t *testing.T) {
	volumes, records, whole := pair(t)
	tagging := records
	tagging.Volumes = volumes
	seen := Status{Machine: "m1", At: time.Now(), Arrays: []Array{whole}}
	if err := records.Note(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	volumes.tagging = func() {
		volumes.tagging = nil // the run's own tag came before the watch's
		if err := records.Leaves(t.Context(), Status{Machine: "m1", At: seen.At.Add(time.Millisecond)}, whole, whole.Legs[1]); err != nil {
			t.Error(err)
		}
	}
	var tagger Tagger
	if err := tagger.Note(t.Context(), tagging, seen); err != nil {
		t.Fatal(err)
	}
	is, err := volumes.Volumes.Describe(t.Context(), whole.Legs[1].Volume)
	if tag, known := tagged(is, whole.UUID); err != nil || !known || tag.InStep || !tag.Leaving.IsZero() {
		t.Errorf("the volume says %+v, %v", tag, err)
	}
}

// A watch of several machines waits for a provider that does not answer once in a round, and then leaves it alone for a while.
func TestAWatchWaitsForTheProviderOnceInARound(t *testing.T) {
	volumes, records, one := pair(t)
	two := one
	two.UUID = "2:2:2:2"
	synctest.Test(t, func(t *testing.T) {
		tagging := records
		tagging.Volumes = volumes
		volumes.hangs = true
		var tagger Tagger
		round := func() (waited time.Duration, failed error) {
			begin := time.Now()
			ctx, cancel := tagger.Round(t.Context())
			defer cancel()
			for _, a := range []Array{one, two} {
				seen := Status{Machine: "m", At: begin, Arrays: []Array{a}}
				if err := records.Note(t.Context(), seen); err != nil {
					t.Fatal(err)
				}
				failed = errors.Join(failed, tagger.Note(ctx, tagging, seen))
			}
			return time.Since(begin), failed
		}
		if waited, err := round(); waited != tagPatience || !errors.Is(err, errSilent) || volumes.looks != 1 {
			t.Errorf("waited for %s, asked %d times, %v", waited, volumes.looks, err)
		}
		for range 2 {
			time.Sleep(2 * time.Second)
			if waited, err := round(); waited != 0 || err != nil || volumes.looks != 1 {
				t.Errorf("soon after: waited for %s, asked %d times, %v", waited, volumes.looks, err)
			}
		}
		volumes.hangs = false
		time.Sleep(tagRest)
		if _, err := round(); err != nil || volumes.tags != 2 {
			t.Errorf("it answers again: %d tags, %v", volumes.tags, err)
		}
	})
}
