package superdisk

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/superdisk/superdisktest"
)

// recorded is what a real machine printed: Linux 6.1, mdadm 4.2.
func recorded(t *testing.T, name string) Status {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return parseFiles(string(text)).status()
}

func TestStatusOfRecordedMachines(t *testing.T) {
	for name, want := range map[string]struct {
		state    string
		degraded int
		legs     string
		advice   string
		sync     string
	}{
		"whole":            {"clean", 0, "local in_sync, network in_sync+write_mostly", "", ""},
		"network-failed":   {"clean", 1, "local in_sync, network faulty+write_mostly", "only the local leg serves", ""},
		"network-removed":  {"clean", 1, "local in_sync", "only the local leg serves", ""},
		"network-recovers": {"clean", 1, "local in_sync, network write_mostly+spare", "being rebuilt", "recovery"},
		"network-alone":    {"clean", 1, "network in_sync+write_mostly", "only the network leg serves", ""},
		"inactive":         {"inactive", 0, "local spare", "assembled it partly", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := recorded(t, name)
			if len(s.Arrays) != 1 || !s.Kernel.Fit || s.At.IsZero() || s.Boot == "" {
				t.Fatalf("status %+v", s)
			}
			a := s.Arrays[0]
			var legs []string
			for _, l := range a.Legs {
				legs = append(legs, string(l.Role)+" "+strings.Join(l.State, "+"))
			}
			if got := strings.Join(legs, ", "); a.State != want.state || a.Degraded != want.degraded || got != want.legs {
				t.Errorf("%s, %d missing, %s", a.State, a.Degraded, got)
			}
			advice := Advise(a, s.Kernel, Record{})
			if (want.advice == "") != (len(advice) == 0) || want.advice != "" && !strings.Contains(advice[0].Text, want.advice) {
				t.Errorf("advice %+v", advice)
			}
			if (a.Sync != nil) != (want.sync != "") || a.Sync != nil && (a.Sync.Action != want.sync || a.Sync.Total != 1038336*512 || a.Sync.Left == 0) {
				t.Errorf("sync %+v", a.Sync)
			}
			if a.State != "inactive" && (a.Name != "sd" || a.Chunk != 4<<20 || a.Size != 1038336*512 || len(a.UUID) != 35) {
				t.Errorf("array %+v", a)
			}
		})
	}
	if a, _ := recorded(t, "whole").Find("sd"); a.Mount != "/run/mnt" || a.Files != "xfs" || !a.Whole() {
		t.Errorf("mounted at %q as %q, whole %v", a.Mount, a.Files, a.Whole())
	}
	if a, _ := recorded(t, "whole").Find("/dev/md127"); a.Legs[0].IO.Reads == 0 || a.Legs[0].IO.Read <= a.Legs[1].IO.Read {
		t.Errorf("the local leg has answered %+v, the network leg %+v", a.Legs[0].IO, a.Legs[1].IO)
	}
}

// A network leg whose requests never time out is told of, before it hangs.
func TestALegWithoutATimeoutIsToldOf(t *testing.T) {
	says, err := os.ReadFile(filepath.Join("testdata", "whole.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for ms, want := range map[string]bool{"4294967295": true, "30000": false, "": false} {
		s := parseFiles(string(says) + "md127/md/dev-ubdb/block/queue/io_timeout:" + ms + "\n").status()
		advice := Advise(s.Arrays[0], s.Kernel, Record{})
		if got := len(advice) > 0 && strings.Contains(advice[0].Text, "/dev/ubdb only after 1193h"); got != want {
			t.Errorf("a time-out of %s ms: %+v", ms, advice)
		}
	}
}

// The leg of a disk that was taken away has bad areas, by md: the failed write. Its volume is known by the record, in which it stays one leg.
func TestALegWhoseVolumeWasTakenAwayIsToldOfOnce(t *testing.T) {
	says := string(blob(t, "whole.txt"))
	named := func(says string) Array {
		return parseFiles(strings.NewReplacer("dev-ubda/block/serial:(null)", "dev-ubda/block/serial:AWS1", "dev-ubdb/block/serial:(null)", "dev-ubdb/block/serial:vol0abc").Replace(says)).status().Arrays[0]
	}
	var r Record
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	r.Note(named(says), "m1", begin)
	gone := strings.ReplaceAll(string(blob(t, "network-failed.txt")), "dev-ubda/block/serial:(null)", "dev-ubda/block/serial:AWS1") + "md127/md/dev-ubdb/bad_blocks:8 8\n"
	a := parseFiles(gone).status().Arrays[0]
	r.Note(a, "m1", begin.Add(time.Minute))
	if leg := r.Legs["vol-0abc"]; len(r.Legs) != 2 || leg.InStep || !leg.Since.Equal(begin.Add(time.Minute)) {
		t.Errorf("the record has %+v", r.Legs)
	}
	advice := Advise(a, KernelOf("6.1.0"), r)
	if len(advice) != 1 || !strings.Contains(advice[0].Text, "only the local leg serves") || !strings.HasSuffix(advice[0].Do, "superdisk/reattach-network --cluster CLUSTER -i node=NODE -i network=vol-0abc") {
		t.Errorf("advice %+v", advice)
	}
	r.Complete(&a)
	if l, _ := a.Leg(Network); l.Volume != "vol-0abc" {
		t.Errorf("the leg is %+v", l)
	}
	a = named(string(blob(t, "network-removed.txt")))
	r.Note(a, "m1", begin.Add(2*time.Minute))
	if len(r.Legs) != 2 {
		t.Errorf("the record has %+v", r.Legs)
	}
}

// A leg that hangs is given up by a runbook.
func TestTheAdviceOnALegThatHangsIsACommand(t *testing.T) {
	a := recorded(t, "whole").Arrays[0]
	a.Legs[1].HungFor = time.Minute
	if advice := Advise(a, KernelOf("6.1.0"), Record{}); len(advice) != 1 || !strings.HasPrefix(advice[0].Do, "plimsoll runbook run superdisk/give-up-hung --cluster CLUSTER -i node=NODE ") {
		t.Errorf("advice %+v", advice)
	}
}

// Programs read how far a seed is: its keys say their units.
func TestKeysOfASeedSayTheirUnits(t *testing.T) {
	data, err := json.Marshal(Seed{Target: "/dev/a", Done: 1, Total: 2, Rate: 3, Limit: 4, Floor: 5, Ceiling: 6, Bound: 7, Left: 8, Idle: 9})
	if want := `{"target":"/dev/a","done_bytes":1,"total_bytes":2,"bytes_per_second":3,"limit_bytes_per_second":4,"floor_bytes_per_second":5,` +
		`"ceiling_bytes_per_second":6,"p99_bound_ns":7,"left_ns":8,"idle_ns":9}`; err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
}

// So do those of an array, of a leg and of md's own copy.
func TestKeysOfTheStatusSayTheirUnits(t *testing.T) {
	behind := int64(4)
	for want, of := range map[string]any{
		`{"device":"/dev/md127","uuid":"u","state":"clean","slots":2,"degraded":1,"size_bytes":5,"bitmap_chunk_bytes":6,"bytes_behind":4,"legs":null}`: Array{
			Device: "/dev/md127", UUID: "u", State: "clean", Slots: 2, Degraded: 1, Size: 5, Chunk: 6, Behind: &behind,
		},
		`{"action":"recovery","done_bytes":1,"total_bytes":2,"bytes_per_second":3,"floor_bytes_per_second":4,"ceiling_bytes_per_second":5,"left_ns":6}`: Sync{
			Action: "recovery", Done: 1, Total: 2, Rate: 3, Floor: 4, Ceiling: 5, Left: 6,
		},
		`{"device":"/dev/a","role":"local","slot":0,"state":null,"errors":1,"bad_blocks":2,"size_bytes":3,` +
			`"io":{"reads":1,"writes":2,"bytes_read":3,"bytes_written":4,"in_flight":5},"io_timeout_ns":6,"hung_for_ns":7}`: Leg{
			Device: "/dev/a", Role: Local, Errors: 1, BadBlocks: 2, Size: 3, IO: IO{Reads: 1, Writes: 2, Read: 3, Written: 4, InFlight: 5}, Timeout: 6, HungFor: 7,
		},
	} {
		if data, err := json.Marshal(of); err != nil || string(data) != want {
			t.Errorf("%s, %v; want %s", data, err, want)
		}
	}
}

// How much a leg that comes back receives is not known, nothing, or everything: programs tell these apart.
func TestHowMuchALegReceivesIsKnownOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Array)
		want   string
	}{
		"nothing is missing":        {func(a *Array) { a.Degraded = 0 }, `"bytes_behind":0`},
		"the leg cannot be read":    {func(*Array) {}, `"bytes_behind":null`},
		"the leg hangs":             {func(a *Array) { a.Legs[0].HungFor = Hung }, `"bytes_behind":null`},
		"there is no bitmap":        {func(a *Array) { a.Chunk = 0 }, `"bytes_behind":531628032`},
		"it does not run":           {func(a *Array) { a.State = "inactive" }, `"bytes_behind":null`},
		"it was started without it": {func(a *Array) { a.Legs[0].HungFor = Hung; a.Name = "alone" }, `"bytes_behind":531628032`},
	} {
		s := recorded(t, "network-removed")
		a := &s.Arrays[0]
		c.change(a)
		s.Measure(t.Context(), unruly{})
		if a.Name == "alone" {
			Record{Legs: map[string]LegRecord{"vol-1": {Role: Network, Seen: time.Now(), Whole: true}}}.Complete(a)
		}
		if data, err := json.Marshal(a); err != nil || !strings.Contains(string(data), c.want) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}

// unruly is a machine on which no command succeeds.
type unruly struct{ infra.Machine }

func (unruly) Name() string { return "m1" }

func (unruly) Run(context.Context, infra.Command) (infra.Output, error) {
	return infra.Output{}, errors.New("permission denied")
}

func blob(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSuperblocks(t *testing.T) {
	for name, want := range map[string]struct {
		slot   int
		alone  bool
		mostly bool
	}{
		"left":  {1, false, true},  // it left an array that went on without it, and does not know it
		"alone": {1, true, true},   // it served when the other was gone
		"stale": {0, false, false}, // the other, meanwhile
	} {
		s, err := ParseSuperblock(blob(t, name+".superblock"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Slot() != want.slot || s.ServedAlone() != want.alone || s.WriteMostly() != want.mostly || s.Name() != "any:sd" || s.Level() != 1 ||
			s.DataOffset() != headroom || s.Slots() != 2 || !s.HasBitmap() || s.Size() != 1038336*512 {
			t.Errorf("%s: slot %d, alone %v, mostly %v, name %q, level %d, offset %d, slots %d, size %d", name, s.Slot(), s.ServedAlone(), s.WriteMostly(), s.Name(), s.Level(), s.DataOffset(), s.Slots(), s.Size())
		}
	}
	damaged := slices.Clone(blob(t, "left.superblock"))
	damaged[80]++
	if _, err := ParseSuperblock(damaged); err == nil {
		t.Error("a damaged superblock was believed")
	}
	if _, err := ParseSuperblock(make([]byte, SuperblockSize)); err == nil {
		t.Error("zeros were taken for a superblock")
	}
}

func TestTwin(t *testing.T) {
	s, err := ParseSuperblock(blob(t, "alone.superblock"))
	if err != nil {
		t.Fatal(err)
	}
	twin, err := s.Twin(0, [16]byte{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseSuperblock(twin.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again.Slot() != 0 || again.WriteMostly() || again.ServedAlone() || again.UUID() != s.UUID() || again.Events() != s.Events() || string(again.raw[168:184]) == string(s.raw[168:184]) {
		t.Errorf("twin: slot %d, events %d of %d", again.Slot(), again.Events(), s.Events())
	}
	if _, err := s.Twin(1, [16]byte{1}); err == nil {
		t.Error("a slot was given away twice")
	}
}

func TestBitmap(t *testing.T) {
	b, err := ParseBitmap(blob(t, "alone.bitmap"))
	if err != nil {
		t.Fatal(err)
	}
	// mdadm begins a bitmap with all its bits set; md clears on the disk what it knows to be equal after some seconds.
	if b.Chunk != 4<<20 || b.Chunks != 127 || b.Dirty != 127 || b.EventsCleared != 18 {
		t.Errorf("bitmap %+v", b)
	}
	data := blob(t, "alone.bitmap")
	clear(data[bitmapHeader:])
	data[bitmapHeader], data[bitmapHeader+15] = 0x07, 0xc0 // chunks 0, 1, 2, 126; there is no chunk 127
	if b, err = ParseBitmap(data); err != nil || b.Dirty != 4 || b.Behind() != 16<<20 {
		t.Errorf("bitmap %+v, %v", b, err)
	}
	if _, err := ParseBitmap(make([]byte, 4096)); err == nil {
		t.Error("zeros were taken for a bitmap")
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"left.superblock", "alone.bitmap"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := ParseSuperblock(data); err == nil {
			_, _, _ = s.Filled(), s.Slot(), s.ServedAlone()
			_, _ = s.Twin(0, [16]byte{})
		}
		_, _ = ParseBitmap(data)
		parseFiles(string(data)).status()
	})
}

func TestKernels(t *testing.T) {
	for release, fit := range map[string]bool{
		"6.1.176": true, "5.15.0-1030-aws": true, "6.8.12": true, "6.9.0": false, "6.9.12-200.fc40": false, "6.10.3": false, "6.10.9": true,
		"6.11.0": true, "7.2.0-cloud-amd64": true, "6.12+deb": true, "4.4.0": false, "odd": false,
	} {
		if k := KernelOf(release); k.Fit != fit || k.Fit == (k.Why != "") {
			t.Errorf("%+v", k)
		}
	}
}

func TestHungLegs(t *testing.T) {
	var w Watch
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds, ended, inFlight int64) time.Duration {
		s := Status{At: begin.Add(time.Duration(seconds) * time.Second), Arrays: []Array{{Legs: []Leg{{Device: "/dev/a", IO: IO{Writes: ended, InFlight: inFlight}}}}}}
		w.See(&s)
		return s.Arrays[0].Legs[0].HungFor
	}
	for i, look := range []struct {
		second, ended, flight int64
		hung                  time.Duration
	}{
		{0, 10, 2, 0}, {1, 12, 2, 0}, {2, 12, 2, time.Second}, {9, 12, 3, 8 * time.Second}, {10, 13, 3, 0}, {11, 13, 0, 0}, {30, 13, 0, 0}, {31, 13, 1, 0},
	} {
		if got := at(look.second, look.ended, look.flight); got != look.hung {
			t.Errorf("look %d: hung for %s, want %s", i, got, look.hung)
		}
	}
}

func TestRecordsTellAStaleLeg(t *testing.T) {
	var r Record
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	r.Note(recorded(t, "whole").Arrays[0], "m1", begin)
	if why, _ := r.Doubt("network", begin.Add(time.Minute)); why != "" {
		t.Errorf("in step a minute ago: %s", why)
	}
	if why, certain := r.Doubt("network", begin.Add(time.Hour)); why == "" || certain {
		t.Errorf("not looked at for an hour: %q, certain %v", why, certain)
	}
	if !r.Note(recorded(t, "network-removed").Arrays[0], "m1", begin.Add(2*time.Minute)) {
		t.Error("a leg that left is no change")
	}
	r.Note(recorded(t, "network-removed").Arrays[0], "m1", begin.Add(9*time.Minute))
	why, certain := r.Doubt("network", begin.Add(10*time.Minute))
	if !certain || !strings.Contains(why, "8m0s ago") {
		t.Errorf("out of step for eight minutes: %q, certain %v", why, certain)
	}
	if why, certain := r.Doubt("vol-other", begin); why == "" || certain {
		t.Errorf("a leg that nobody knows: %q, certain %v", why, certain)
	}
	r.Note(recorded(t, "inactive").Arrays[0], "m2", begin.Add(11*time.Minute))
	if why, _ := r.Doubt("local", begin.Add(11*time.Minute)); why == "" {
		t.Error("a leg of an array that does not run counts as in step")
	}
}

func TestGovernor(t *testing.T) {
	g := Governor{Bound: 10 * time.Millisecond, Floor: 10, Ceiling: 1010}
	if g.Rate() != 10 {
		t.Errorf("it begins at %d", g.Rate())
	}
	if rate := g.See(time.Millisecond); rate != 20 {
		t.Errorf("a service that is well lets it grow to %d", rate)
	}
	for range 40 {
		g.See(time.Millisecond)
	}
	if g.Rate() != 1010 {
		t.Errorf("a service that is well lets it grow to %d", g.Rate())
	}
	if rate := g.See(11 * time.Millisecond); rate != 505 {
		t.Errorf("above the bound it goes on with %d", rate)
	}
	for range 2 * aftermath {
		if rate := g.See(9500 * time.Microsecond); rate != 505 {
			t.Errorf("close to the bound it goes on with %d", rate)
		}
	}
	g.Moving(100)
	if rate := g.See(11 * time.Millisecond); rate != 50 {
		t.Errorf("a disk that gives 100 of 505 goes on with %d", rate)
	}
	g.Moving(0)
	for range 40 {
		g.See(time.Second)
	}
	if g.Rate() != 10 || g.Summary().AtFloor == 0 || g.Summary().WorstP99 != time.Second || g.Summary().Lowest != 10 || g.Summary().Highest != 1010 {
		t.Errorf("%d, %+v", g.Rate(), g.Summary())
	}
	g.See(0)
	if rate := g.Blind(); rate >= 60 || rate < 10 {
		t.Errorf("blind it goes on with %d", rate)
	}
}

// A simulated disk gives 32 of the 1,024 MiB a second that the copy may have, and the service is slow while the copy takes more than 22. Its p99
// is of the last five seconds. The copy must find that, whatever the ceiling says, and stay near it.
func TestTheGovernorFindsWhatADiskGives(t *testing.T) {
	const mib = 1 << 20
	g := Governor{Bound: 80 * time.Millisecond, Floor: mib, Ceiling: 1024 * mib}
	var window [5]time.Duration
	slow, copied := 0, int64(0)
	const seconds = 300
	for i := range seconds {
		moved := min(g.Rate(), 32*mib)
		copied += moved
		window[i%5] = 10 * time.Millisecond
		if moved > 22*mib {
			window[i%5] = 300 * time.Millisecond
			slow++
		}
		g.Moving(moved)
		g.See(slices.Max(window[:]))
	}
	t.Logf("slow in %d of %d seconds, %.1f MiB/s copied; %+v", slow, seconds, float64(copied)/mib/seconds, g.Summary())
	if slow > seconds/15 || g.Summary().Over > seconds*3/10 {
		t.Errorf("the service was slow in %d of %d seconds, and %d looks were above the bound", slow, seconds, g.Summary().Over)
	}
	if copied < seconds*15*mib {
		t.Errorf("only %.1f MiB a second were copied", float64(copied)/mib/seconds)
	}
}

func parseFiles(recording string) files { return filesOf(superdisktest.Snapshot(recording)) }

// told is a machine that answers a look with a recording, and whose clock is off.
type told struct {
	infra.Machine
	says  string
	clock func() time.Time
}

func (told) Name() string { return "m1" }

func (m told) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	s := superdisktest.Snapshot(m.says)
	s.Now = m.clock()
	return s, nil
}

// A machine whose clock is an hour off is looked at by our own: a leg that nobody has looked at for an hour is not one that was in step a
// moment ago, and one that was in step a moment ago is not an hour old.
func TestAClockThatIsOffDecidesNothing(t *testing.T) {
	says, err := os.ReadFile(filepath.Join("testdata", "whole.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(says), "/now:") {
		t.Fatalf("the recording begins with %.20q", says)
	}
	for _, off := range []time.Duration{time.Hour, -time.Hour, 0} {
		m := told{says: string(says), clock: func() time.Time { return time.Now().Add(off) }}
		s, err := Inspect(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if since := time.Since(s.At); since < 0 || since > time.Minute || (s.ClockAhead-off).Abs() > 2*time.Second {
			t.Errorf("a clock that is %s off: looked at %s ago, its clock is %s ahead", off, since, s.ClockAhead)
		}
		var r Record
		r.Note(s.Arrays[0], s.Machine, s.At)
		key := s.Arrays[0].Legs[1].Key()
		if why, _ := r.Doubt(key, time.Now()); why != "" {
			t.Errorf("a clock that is %s off, in step a moment ago: %s", off, why)
		}
		if why, _ := r.Doubt(key, time.Now().Add(30*time.Minute)); !strings.Contains(why, "has not been checked since") {
			t.Errorf("a clock that is %s off, not looked at for half an hour: %q", off, why)
		}
		if why, certain := r.Doubt(key, time.Now().Add(-time.Hour)); certain || !strings.Contains(why, "ahead of the clock of this host") {
			t.Errorf("a record of another host whose clock is an hour ahead: %q, certain %v", why, certain)
		}
	}
}
