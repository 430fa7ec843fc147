package superdiskcmd

import (
	"bytes"
	"testing"
	"time"

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
