package superdiskcmd

import (
	"strings"
	"testing"
	"time"

	"plimsoll/superdisk"
)

// What is advised can be typed: with the cluster and the node that were looked at.
func TestAdviceOnASuperDiskNamesItsClusterAndNode(t *testing.T) {
	a := superdisk.Array{
		Device: "/dev/md127", State: "clean", Slots: 2, Degraded: 1, Chunk: 4 << 20,
		Legs: []superdisk.Leg{{Device: "/dev/nvme1n1", Role: superdisk.Network, State: []string{"in_sync", "write_mostly"}}},
	}
	all := place{cluster: "orders", node: "db1"}.named(superdisk.Advise(a, superdisk.KernelOf("6.12.0"), superdisk.Record{})...)
	if len(all) != 1 || !strings.HasPrefix(all[0].Do, "plimsoll runbook plan superdisk/rebuild --cluster orders -i node=db1 -i local=FILL_IN; if a run of superdisk/migrate") {
		t.Errorf("%+v", all)
	}
	if all = (place{}).named(superdisk.Advise(a, superdisk.KernelOf("6.12.0"), superdisk.Record{})...); len(all) != 1 || !strings.Contains(all[0].Do, "--cluster CLUSTER -i node=NODE") {
		t.Errorf("of no cluster: %+v", all)
	}
	a.Seed = &superdisk.Seed{Target: "/dev/nvme2n1", Idle: time.Minute}
	a.Legs[0].Timeout = time.Hour
	all = place{cluster: "orders", node: "db1"}.named(superdisk.Advise(a, superdisk.KernelOf("6.12.0"), superdisk.Record{})...)
	if len(all) != 2 || !strings.HasPrefix(all[0].Do, "plimsoll runbook plan superdisk/rebuild --cluster orders -i node=db1 -i local=/dev/nvme2n1 continues") ||
		!strings.HasPrefix(all[1].Do, "plimsoll runbook run superdisk/give-up-hung --cluster orders -i node=db1, while") {
		t.Errorf("of a seed that was cut off, and a leg without a time-out: %+v", all)
	}
}
