package superdiskcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/hint"
	"plimsoll/superdisk"
)

// TestSuperdiskText shows an array of which the network leg has left and something is behind.
func TestSuperdiskText(t *testing.T) {
	behind := int64(12 << 20)
	a := superdisk.Array{
		Device: "/dev/md127", Name: "sd", UUID: "540649c0:922d00fc:aac8231f:b7a686e7", State: "clean", Slots: 2, Degraded: 1, Size: 507 << 20,
		Mount: "/data", Files: "xfs", Chunk: 4 << 20, Behind: &behind,
		Sync: &superdisk.Sync{Action: "recovery", Done: 20 << 20, Total: 507 << 20, Rate: 1 << 20, Floor: 1 << 20, Ceiling: 200 << 20, Left: 487 * time.Second},
		Legs: []superdisk.Leg{{
			Device: "/dev/nvme1n1", Volume: "AWS123", Role: superdisk.Local, State: []string{"in_sync"}, Errors: 1, IO: superdisk.IO{Reads: 12345, Writes: 7, InFlight: 2},
		}},
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n := superdiskNode{
		Node: "n1", Status: superdisk.Status{Machine: "ssh:db1", Kernel: superdisk.KernelOf("6.9.3"), Arrays: []superdisk.Array{a}},
		Advice: map[string][]superdisk.Advice{a.Device: superdisk.Advise(a, superdisk.KernelOf("6.9.3"), superdisk.Record{})},
		Record: map[string]superdisk.Record{a.Device: {Legs: map[string]superdisk.LegRecord{
			"AWS123":   {Role: superdisk.Local, InStep: true, Since: at},
			"vol-0abc": {Role: superdisk.Network, Since: at},
			"AWS122":   {Role: superdisk.Local, Since: at}, // of the machine before this one: nothing is missing for it
		}}},
	}
	var out bytes.Buffer
	printSuperdisks(&out, n)
	want := `n1 on ssh:db1: sd (/dev/md127), 507 MiB, 1 of 2 legs in step, xfs at /data
  array 540649c0:922d00fc:aac8231f:b7a686e7, kernel 6.9.3
  LEG    DEVICE        VOLUME  STATE    SINCE                 ERRORS  BAD  READS   WRITES  IN FLIGHT
  local  /dev/nvme1n1  AWS123  in_sync  2026-01-02 03:04:05Z  1       0    12,345  7       2
  the network leg vol-0abc is missing since 2026-01-02 03:04:05Z
  a leg that comes back receives 12.0 MiB
  recovery: 20.0 MiB of 507 MiB done at 1.00 MiB/s, 8m7s left; its rate is kept between 1.00 MiB/s and 200 MiB/s
! kernel 6.9.3: it may hang with only a write-mostly leg left, and reads during a rebuild may return wrong data; fixed in 6.11 and 6.10.7
  next: boot a kernel that has both fixes before a leg is lost or rebuilt
  the local leg /dev/nvme1n1 has had 1 read errors that were corrected from the other leg
  next: replace the disk if their number grows
  a leg is being rebuilt; until that is done only one leg has all data
`
	got := string(bytes.ReplaceAll(out.Bytes(), []byte("\u202f"), []byte(" ")))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A new leg that is filled is shown with what governs the copy, or as interrupted; and a clock that is off.
func TestSeedText(t *testing.T) {
	show := func(seed superdisk.Seed) string {
		a := superdisk.Array{
			Device: "/dev/md127", Name: "sd", State: "clean", Slots: 2, Degraded: 1, Size: 507 << 20, Chunk: 4 << 20, Seed: &seed,
			Legs: []superdisk.Leg{{Device: "/dev/nvme2n1", Role: superdisk.Network, State: []string{"in_sync", "write_mostly"}}},
		}
		var out bytes.Buffer
		printSuperdisks(&out, superdiskNode{Status: superdisk.Status{Machine: "db1", Arrays: []superdisk.Array{a}}, Advice: map[string][]superdisk.Advice{a.Device: superdisk.Advise(a, superdisk.KernelOf("6.1.0"), superdisk.Record{})}})
		return string(bytes.ReplaceAll(out.Bytes(), []byte("\u202f"), []byte(" ")))
	}
	seed := superdisk.Seed{Target: "/dev/nvme1n1", Done: 120 << 20, Total: 376 << 20, Rate: 20 << 20, Limit: 24 << 20, Left: 13 * time.Second}
	for _, c := range []struct {
		change func(s superdisk.Seed) superdisk.Seed
		want   string
	}{
		{func(s superdisk.Seed) superdisk.Seed { return s }, "  seed of /dev/nvme1n1: 120 MiB of 376 MiB in use copied at 20.0 MiB/s, 13s left; limited to 24.0 MiB/s\n" +
			"  the new leg /dev/nvme1n1 is being filled; until that is done only one leg has all data\n"},
		{func(s superdisk.Seed) superdisk.Seed {
			s.Floor, s.Ceiling, s.Bound = 5<<20, 1<<30, 12*time.Millisecond
			return s
		}, "; limited to 24.0 MiB/s now, between 5.00 MiB/s and 1.00 GiB/s, so that the service's p99 stays below 12ms\n"},
		{func(s superdisk.Seed) superdisk.Seed { s.Idle = 40 * time.Second; return s }, "120 MiB of 376 MiB in use copied, interrupted 40s ago\n" +
			"! the copy to the new leg /dev/nvme1n1 was interrupted: nothing has been copied for 40s, and only one leg has all data\n"},
		{func(s superdisk.Seed) superdisk.Seed { s.Rate, s.Left = 0, 0; return s }, "120 MiB of 376 MiB in use copied, nothing copied at the last look; limited to 24.0 MiB/s\n"},
		{func(s superdisk.Seed) superdisk.Seed { return superdisk.Seed{Target: s.Target} }, "  the seed of /dev/nvme1n1 begins\n"},
		{func(s superdisk.Seed) superdisk.Seed { return superdisk.Seed{Target: s.Target, Idle: 40 * time.Second} }, "  seed of /dev/nvme1n1: nothing copied yet, interrupted 40s ago\n"},
	} {
		if got := show(c.change(seed)); !bytes.Contains([]byte(got), []byte(c.want)) {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
	var out bytes.Buffer
	printClock(&out, superdiskNode{Status: superdisk.Status{Machine: "db1", ClockAhead: -time.Hour}})
	if !bytes.Contains(out.Bytes(), []byte("! the clock of db1 is 1h0m0s behind this host's")) {
		t.Errorf("%s", out.Bytes())
	}
}

// Where there is no array, the command that plans one knows the cluster, and the node if there is one only.
func TestWithoutAnArrayTheCommandKnowsItsCluster(t *testing.T) {
	for _, c := range []struct {
		cluster string
		nodes   int
		want    string
	}{
		{"orders", 1, "--cluster orders -i node=db1 -i local=FILL_IN -i network=FILL_IN -i mount=FILL_IN\n"},
		{"orders", 2, "--cluster orders -i node=FILL_IN -i local=FILL_IN"},
		{"", 1, "--cluster FILL_IN -i node=FILL_IN -i local=FILL_IN"},
	} {
		var out, said strings.Builder
		all := []superdiskNode{{Node: "db1"}, {Node: "db2"}}[:c.nodes]
		if err := (superdiskStatus{cluster: c.cluster}).print(console.Streams{Out: &out, Err: &said}, all); err != nil || !strings.Contains(said.String(), "plimsoll runbook plan superdisk/create "+c.want) {
			t.Errorf("%+v: %v, %s", c, err, said.String())
		}
	}
}

// After a crash and a start of the machine no array runs: its legs are shown, and the runbook that starts it, never one that makes a new array.
func TestAnArrayThatIsStoppedIsShown(t *testing.T) {
	const uuid = "540649c0:922d00fc:aac8231f:b7a686e7"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := at.Add(time.Minute)
	local := superdisk.StoppedLeg{Device: "/dev/vdb", Volume: "AWS1", Role: superdisk.Local, Updated: at}
	network := superdisk.StoppedLeg{Device: "/dev/vda", Volume: "vol-0abc", Role: superdisk.Network, Slot: 1, Updated: at}
	alone := func(l superdisk.StoppedLeg) superdisk.StoppedLeg { l.Alone = true; return l }
	inStep := superdisk.LegRecord{InStep: true, Since: at, Seen: at}
	left := superdisk.LegRecord{Role: superdisk.Network, Since: at, Seen: at}
	for name, c := range map[string]struct {
		legs    []superdisk.StoppedLeg
		network superdisk.LegRecord
		want    []string
		never   string
	}{
		"both in step": {[]superdisk.StoppedLeg{local, network}, inStep, []string{
			"n1 on m1: superdisk is stopped, with 2 of its legs on this machine\n  array " + uuid,
			"network  /dev/vda  vol-0abc  no            2026-01-02 03:04:05Z  in step, seen 2026-01-02 03:04:05Z",
			"next: plimsoll runbook plan superdisk/start --cluster orders -i node=n1 -i uuid=" + uuid + " -i mount=/mnt/data\n",
		}, "emergency-start"},
		"the local leg served last": {[]superdisk.StoppedLeg{alone(local), network}, left, []string{
			"out of step since 2026-01-02 03:04:05Z", "the local leg AWS1 served last",
			"superdisk/emergency-start --cluster orders -i node=n1 -i network=AWS1 -i uuid=" + uuid + " -i mount=/mnt/data; then bring the other leg into step: superdisk/reattach-network\n",
		}, "superdisk/start "},
		"the network leg served last": {[]superdisk.StoppedLeg{local, alone(network)}, inStep, []string{"-i network=vol-0abc", "superdisk/rebuild"}, "superdisk/start "},
		"both served alone":           {[]superdisk.StoppedLeg{alone(local), alone(network)}, inStep, []string{"decide which one is right", "-i network=FILL_IN"}, "superdisk/start "},
		"a stale leg alone":           {[]superdisk.StoppedLeg{network}, left, []string{"vol-0abc is not to be started: this leg has been out of step since", "attach the other leg"}, "-start"},
		"a good leg alone":            {[]superdisk.StoppedLeg{network}, inStep, []string{"only its network leg is on this machine", "emergency-start --cluster orders -i node=n1 -i network=vol-0abc"}, "superdisk/start "},
		"a leg and its copy":          {[]superdisk.StoppedLeg{network, network}, inStep, []string{"2 disks say that they are legs"}, "-start"},
	} {
		t.Run(name, func(t *testing.T) {
			s := superdisk.Stopped{UUID: uuid, Name: "superdisk", Legs: c.legs}
			r := superdisk.Record{Mount: "/mnt/data", Legs: map[string]superdisk.LegRecord{"AWS1": inStep, "vol-0abc": c.network}}
			n := superdiskNode{Node: "n1", Status: superdisk.Status{Machine: "m1"}, Disks: superdisk.Disks{Stopped: []superdisk.Stopped{s}}, Record: map[string]superdisk.Record{uuid: r}}
			n.Advice = map[string][]superdisk.Advice{uuid: place{cluster: "orders", node: "n1"}.named(s.Advise(r, now))}
			var out, said strings.Builder
			if err := (superdiskStatus{cluster: "orders"}).print(console.Streams{Out: &out, Err: &said}, []superdiskNode{n}); err != nil || said.Len() > 0 {
				t.Errorf("%v, %s", err, said.String())
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("got\n%s\nwant\n%s", out.String(), want)
				}
			}
			for _, never := range []string{c.never, "superdisk/create", "wipe", "zero"} {
				if strings.Contains(out.String(), never) {
					t.Errorf("got\n%s\nwith %s", out.String(), never)
				}
			}
		})
	}
}

// A database whose data lies on a disk of its own is moved onto an array, and a machine that could not be asked is none without arrays.
func TestWhereNoArrayRunsTheStatusKnowsWhatIsThere(t *testing.T) {
	p := place{cluster: "orders", node: "db1", data: "/mnt/data/mysql"}
	root, data := superdisk.Mounted{Device: "/dev/vdc", At: "/"}, superdisk.Mounted{Device: "/dev/vdb", Volume: "AWS1", At: "/mnt/data"}
	if other := (superdisk.Mounted{At: "/mnt/da"}); p.holds(root, nil) || p.holds(other, nil) || !p.holds(data, []superdisk.Mounted{root, data}) ||
		p.holds(data, []superdisk.Mounted{data, {At: "/mnt/data/mysql"}}) {
		t.Error("another disk than the one with the data is said to have it")
	}
	show := func(n superdiskNode) string {
		var out, said strings.Builder
		if err := (superdiskStatus{cluster: "orders"}).print(console.Streams{Out: &out, Err: &said}, []superdiskNode{n}); err != nil {
			t.Error(err)
		}
		return out.String() + said.String()
	}
	n := superdiskNode{Node: "db1", Disks: superdisk.Disks{Mounted: []superdisk.Mounted{data}}, Advice: map[string][]superdisk.Advice{data.At: p.named(data.Advise())}}
	if got := show(n); !strings.Contains(got, "superdisk/migrate --cluster orders -i node=db1 -i local=AWS1 -i network=FILL_IN -i mount=/mnt/data\n") || strings.Contains(got, "superdisk/create") {
		t.Errorf("got %s", got)
	}
	if got := show(superdiskNode{Node: "db1", Error: "connection refused"}); got != "" {
		t.Errorf("of a machine that could not be asked: %s", got)
	}
	if got := show(superdiskNode{Node: "db1", Disks: superdisk.Disks{Unread: []string{"read /dev/vda of m1: permission denied"}}}); !strings.Contains(got, "whether this disk is a leg is not known: read /dev/vda") || strings.Contains(got, "superdisk/create") {
		t.Errorf("of a disk that was not read: %s", got)
	}
}

// The result of the last comparison stays in the status, and what a leg that comes back receives is what the rebuild will copy.
func TestTheStatusRemembersAComparisonAndAStartFromOneLeg(t *testing.T) {
	a := superdisk.Array{Device: "/dev/md127", Name: "sd", UUID: "1:1:1:1", State: "clean", Slots: 2, Mount: "/mnt", Size: 956 << 20, Chunk: 4 << 20, Legs: []superdisk.Leg{
		{Device: "/dev/vdb", Volume: "AWS1", Role: superdisk.Local, State: []string{"in_sync"}}, {Device: "/dev/vda", Volume: "vol-0abc", Role: superdisk.Network, State: []string{"in_sync", "write_mostly"}},
	}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	show := func(a superdisk.Array, r superdisk.Record) string {
		var out bytes.Buffer
		r.Complete(&a)
		printSuperdisks(&out, superdiskNode{Status: superdisk.Status{Machine: "db1", Arrays: []superdisk.Array{a}}, Record: map[string]superdisk.Record{a.Device: r},
			Advice: map[string][]superdisk.Advice{a.Device: place{cluster: "orders", node: "db1"}.named(superdisk.Advise(a, superdisk.KernelOf("6.1.0"), r)...)}})
		return string(bytes.ReplaceAll(out.Bytes(), []byte("\u202f"), []byte(" ")))
	}
	var r superdisk.Record
	r.Note(a, "m1", at)
	for want, c := range map[string]superdisk.Compared{
		"  compared at 2026-01-02 03:04:05Z: up to 65536 bytes of the legs differ, by md's count, and all of them lie where the file system has written nothing; what it uses is the same\n": {At: at, Differ: 65536},
		"! compared at 2026-01-02 03:04:05Z: the legs differ in 8192 bytes of files (ibdata1) and in 4096 bytes of the file system's own blocks\n  next: find out which leg is right": {
			At: at, Differ: 65536, InFiles: 8192, Files: []string{"ibdata1"}, Other: 4096,
		},
		"! compared at 2026-01-02 03:04:05Z: up to 65536 bytes of the legs differ, by md's count; whether files are among them is not known: it is not mounted\n": {At: at, Differ: 65536, Unknown: "it is not mounted"},
	} {
		r.Compared = &c
		if got := show(a, r); !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	a.Legs[1].HungFor = time.Minute
	if got := show(a, r); !strings.Contains(got, "both legs in step, the network leg does not answer") {
		t.Errorf("got %s", got)
	}
	behind := int64(32 << 20)
	a.Legs, a.Degraded, a.Behind = a.Legs[:1], 1, &behind
	r.Note(a, "m1", at.Add(time.Minute))
	if got := show(a, r); strings.Contains(got, "! compared at 2026-01-02 03:04:05Z:") || !strings.Contains(got, "compared at 2026-01-02 03:04:05Z, before a leg left or came back at 2026-01-02 03:05:05Z: ") {
		t.Errorf("a comparison of a leg that left since is not told as history: got %s", got)
	}
	if got := show(a, r); !strings.Contains(got, "a leg that comes back receives 32.0 MiB\n") {
		t.Errorf("got %s", got)
	}
	leg := r.Legs["vol-0abc"]
	leg.Whole = true
	r.Legs["vol-0abc"] = leg
	if got := show(a, r); !strings.Contains(got, "the array was started without its network leg: all 956 MiB are copied to one that comes back\n") {
		t.Errorf("got %s", got)
	}
}

// A machine that could not be asked is named with what is done if it is lost; JSON says nothing of a kernel that nobody has seen.
func TestAMachineThatCannotBeAskedIsToldOf(t *testing.T) {
	n := superdiskNode{Node: "db1", Error: "connection refused", failed: errors.New("connection refused")}
	var out, said strings.Builder
	err := superdiskStatus{cluster: "orders"}.once(t.Context(), console.Streams{Out: &out, Err: &said}, func() []superdiskNode { return []superdiskNode{n} })
	if err == nil || !strings.Contains(err.Error(), "node db1: connection refused") || !strings.Contains(hint.Of(err), "superdisk/recover-node --cluster orders -i lost=db1 -i to=FILL_IN") || said.Len() > 0 {
		t.Errorf("%v, %q, %s", err, hint.Of(err), said.String())
	}
	if data, err := json.Marshal(n); err != nil || strings.Contains(string(data), "kernel") || strings.Contains(string(data), "0001-01-01") {
		t.Errorf("%s, %v", data, err)
	}
}
