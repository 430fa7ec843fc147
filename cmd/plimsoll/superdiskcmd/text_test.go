package superdiskcmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
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
		Advice: map[string][]superdisk.Advice{a.Device: superdisk.Advise(a, superdisk.KernelOf("6.9.3"))},
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
  LEG    DEVICE        VOLUME  STATE    SINCE                ERRORS  BAD  READS   WRITES  IN FLIGHT
  local  /dev/nvme1n1  AWS123  in_sync  2026-01-02 03:04:05  1       0    12,345  7       2
  the network leg vol-0abc is missing since 2026-01-02 03:04:05
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
		printSuperdisks(&out, superdiskNode{Status: superdisk.Status{Machine: "db1", Arrays: []superdisk.Array{a}}, Advice: map[string][]superdisk.Advice{a.Device: superdisk.Advise(a, superdisk.KernelOf("6.1.0"))}})
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
