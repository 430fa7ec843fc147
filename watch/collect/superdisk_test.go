package collect

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/superdisk"
	"plimsoll/superdisk/superdisktest"
	"plimsoll/watch"
)

// mirrored is a machine that shows what a real one with a Super Disk did.
type mirrored struct {
	infra.Machine
	shows string
	fails error // of a look
	asks  error // of a process that reads a page of each leg
	looks int
	ran   int
}

func (*mirrored) Name() string { return "m1" }

func (m *mirrored) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	m.looks++
	return superdisktest.Snapshot(m.shows), m.fails
}

func (m *mirrored) Run(context.Context, infra.Command) (infra.Output, error) {
	m.ran++
	return infra.Output{}, m.asks
}

func recording(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../superdisk/testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const mirrorUUID = "540649c0:922d00fc:aac8231f:b7a686e7" // of the recordings

func superDiskOn(t *testing.T, m infra.Machine) (c watch.Collector, records superdisk.Records) {
	t.Helper()
	host, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	records = superdisk.Records{Machine: host, Folder: filepath.Join(t.TempDir(), "superdisk")}
	return SuperDisk(m, records), records
}

// series are what a reading has, by name and labels.
func series(r watch.Reading) map[string]float64 {
	all := map[string]float64{}
	for _, s := range r.Samples {
		name := strings.TrimPrefix(s.Name, "plimsoll_superdisk_")
		for _, l := range s.Labels {
			name += " " + l.Value
		}
		all[name] = s.Value
	}
	return all
}

// What the alerts go by is read of real machines: both legs have their series, whatever becomes of them.
func TestTheLegsOfASuperDiskAreSeries(t *testing.T) {
	whole := map[string]float64{
		"leg_missing sd local": 0, "leg_missing sd network": 0, "leg_hung_seconds sd local": 0, "leg_hung_seconds sd network": 0,
		"copying sd": 0, "kernel_fit sd 6.1.176": 1, "unread": 0,
	}
	with := func(more map[string]float64) map[string]float64 {
		all := maps.Clone(whole)
		maps.Copy(all, more)
		return all
	}
	onOld := with(map[string]float64{"kernel_fit sd 6.9.3": 0})
	delete(onOld, "kernel_fit sd 6.1.176")
	for name, c := range map[string]struct {
		shows string
		want  map[string]float64
	}{
		"both in step":                          {recording(t, "whole"), whole},
		"the network leg failed":                {recording(t, "network-failed"), with(map[string]float64{"leg_missing sd network": 1})},
		"it was taken out":                      {recording(t, "network-removed"), with(map[string]float64{"leg_missing sd network": 1})},
		"it is copied to":                       {recording(t, "network-recovers"), with(map[string]float64{"leg_missing sd network": 1, "copying sd": 1})},
		"it serves alone":                       {recording(t, "network-alone"), with(map[string]float64{"leg_missing sd local": 1})},
		"a kernel with defects":                 {strings.Replace(recording(t, "whole"), "osrelease:6.1.176", "osrelease:6.9.3", 1), onOld},
		"an array that is no Super Disk, whole": {strings.ReplaceAll(recording(t, "whole"), ",write_mostly", ""), map[string]float64{}},
		"an array that does not run":            {recording(t, "inactive"), map[string]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			collector, records := superDiskOn(t, &mirrored{shows: c.shows})
			r, err := collector.Collect(t.Context(), watch.Minute, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			got := series(r)
			for key, value := range got { // the name that one recording has is another's device
				if array := strings.Replace(key, "/dev/md127", "sd", 1); array != key {
					delete(got, key)
					got[array] = value
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
			if _, err := os.Stat(records.Folder); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something was recorded: %v", err)
			}
		})
	}
}

// A leg hangs when requests are under way and none ends. That takes two looks; a leg that answers between them does not hang.
func TestAHungLegIsASeriesWithinTwentySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := func(ended string) string {
			s := strings.Replace(recording(t, "whole"), "dev-ubdb/block/inflight:       0        0", "dev-ubdb/block/inflight:       0        3", 1)
			return strings.Replace(s, "dev-ubdb/block/stat:     122 ", "dev-ubdb/block/stat:     "+ended+" ", 1)
		}
		m := &mirrored{shows: busy("122")}
		collector, _ := superDiskOn(t, m)
		hung := func(level watch.Level) float64 {
			t.Helper()
			r, err := collector.Collect(t.Context(), level, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if local := series(r)["leg_hung_seconds sd local"]; local != 0 {
				t.Errorf("the local leg hangs for %g s", local)
			}
			time.Sleep(10 * time.Second)
			return series(r)["leg_hung_seconds sd network"]
		}
		if got := hung(watch.TenMinutes); got != 0 {
			t.Errorf("at the first look: %g s", got)
		}
		if got := hung(watch.TenSeconds); got < 9.9 || got > 10.1 {
			t.Errorf("ten seconds later: %g s", got)
		}
		m.shows = busy("123")
		if got := hung(watch.TenSeconds); got != 0 {
			t.Errorf("one request has ended: %g s", got)
		}
		m.shows = recording(t, "network-removed")
		if got := hung(watch.TenSeconds); got != 0 {
			t.Errorf("it was taken out: %g s", got)
		}
	})
}

// While the service writes, no process is started on the machine; a machine without a Super Disk, and one that does not answer, is looked at
// once a minute.
func TestASuperDiskIsReadAtLittleCost(t *testing.T) {
	minute := func(c watch.Collector) (last watch.Reading, err error) {
		for n := range 60 {
			level := watch.Second
			if n%10 == 0 {
				level = watch.TenSeconds
			}
			if n == 0 {
				level = watch.Minute
			}
			r, failed := c.Collect(t.Context(), level, time.Now())
			if level == watch.Second && (len(r.Samples) > 0 || failed != nil) {
				t.Fatalf("it was read at the level of a second: %+v, %v", r, failed)
			}
			if level > watch.Second {
				last, err = r, errors.Join(err, failed)
			}
		}
		return last, err
	}
	m := &mirrored{shows: strings.ReplaceAll(recording(t, "whole"), ",write_mostly", "")}
	c, _ := superDiskOn(t, m)
	if r, err := minute(c); err != nil || len(r.Samples) > 0 || m.looks != 1 {
		t.Errorf("a machine without one: %d looks, %+v, %v", m.looks, r.Samples, err)
	}
	m.shows, m.looks, m.ran = recording(t, "whole"), 0, 0
	if r, err := minute(c); err != nil || m.looks != 6 || m.ran != 6 || series(r)["unread"] != 0 { // in the recording nothing is written
		t.Errorf("a machine with one: %d looks, %d processes, %+v, %v", m.looks, m.ran, r.Samples, err)
	}
	m.fails, m.looks = errors.New("connection refused"), 0
	if r, err := minute(c); err == nil || m.looks != 1 || !maps.Equal(series(r), map[string]float64{"unread": 1}) {
		t.Errorf("a machine that does not answer: %d looks, %+v, %v", m.looks, r.Samples, err)
	}
	m.fails, m.asks, m.looks = nil, errors.New("permission denied"), 0
	if r, err := minute(c); err == nil || m.looks != 6 || series(r)["unread"] != 1 || len(r.Samples) != 7 {
		t.Errorf("an account that may not ask the legs: %d looks, %+v, %v", m.looks, r.Samples, err)
	}
	m.asks = nil
	if r, err := minute(c); err != nil || series(r)["unread"] != 0 {
		t.Errorf("it may again: %+v, %v", r.Samples, err)
	}
}

// How old the record of the legs is tells whether a start from one of them would be believed. It is as old as the leg that was seen the longest ago.
func TestTheAgeOfTheRecordOfLegsIsASeries(t *testing.T) {
	m := &mirrored{shows: recording(t, "whole")}
	c, records := superDiskOn(t, m)
	now := time.Now()
	record := superdisk.Record{Array: mirrorUUID, Legs: map[string]superdisk.LegRecord{
		"local":   {Role: superdisk.Local, InStep: true, Seen: now.Add(-time.Minute)},
		"network": {Role: superdisk.Network, InStep: true, Seen: now.Add(-10 * time.Minute)},
		"vol-0":   {Role: superdisk.Network, Seen: now.Add(-24 * time.Hour)}, // was a leg once
	}}
	if err := records.Write(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	before := files(t, records.Folder)
	r, err := c.Collect(t.Context(), watch.Minute, now)
	if age := series(r)["record_age_seconds sd"]; err != nil || age != 600 {
		t.Errorf("%g s, %v", age, err)
	}
	if after := files(t, records.Folder); !slices.Equal(after, before) {
		t.Errorf("something was recorded: %q, before %q", after, before)
	}
	// By the record it is a Super Disk, even where no leg says so any more.
	m.shows = strings.ReplaceAll(m.shows, ",write_mostly", "")
	if r, err = c.Collect(t.Context(), watch.Minute, now); err != nil || len(r.Samples) == 0 {
		t.Errorf("no leg is write-mostly: %+v, %v", r.Samples, err)
	}
	if err := os.WriteFile(filepath.Join(records.Folder, strings.ReplaceAll(mirrorUUID, ":", "-")+".json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.shows = recording(t, "whole")
	if r, err = c.Collect(t.Context(), watch.Minute, now); err == nil || series(r)["unread"] != 1 {
		t.Errorf("the record is damaged: %+v, %v", r.Samples, err)
	}
}

func files(t *testing.T, folder string) (all []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name+string(text))
	}
	return all
}

// A machine whose kernel does not give a file holds up neither the servers' own readings nor another machine.
func TestALookThatHangsHoldsUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs, _ := superDiskOn(t, &frozen{})
		read := map[string]int{}
		w := watch.New(watch.Config{
			Sources: []watch.Source{{Instance: watch.Instance{Name: "a/n1", Cluster: "a"}, Collectors: []watch.Collector{ticks{}, hangs}}},
			Keep: func(_ context.Context, all []watch.Sample) error {
				for _, s := range all {
					read[s.Name]++
				}
				return nil
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 60500*time.Millisecond)
		defer cancel()
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if read["ticks"] != 61 {
			t.Errorf("%d readings of the server in a minute, want 61", read["ticks"])
		}
	})
}

// frozen is a machine on which a look never ends by itself.
type frozen struct{ infra.Machine }

func (frozen) Name() string { return "m1" }
func (frozen) Snapshot(ctx context.Context, _ ...string) (infra.Snapshot, error) {
	<-ctx.Done()
	return infra.Snapshot{}, ctx.Err()
}

// ticks is read every second.
type ticks struct{}

func (ticks) Close() error { return nil }
func (ticks) Collect(_ context.Context, _ watch.Level, now time.Time) (r watch.Reading, err error) {
	r.Add(now, "ticks", 1)
	return r, nil
}
