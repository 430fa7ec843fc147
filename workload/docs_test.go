package workload_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/workload"
	"plimsoll/workload/internal/golden"
	"plimsoll/workload/ledger"
	"plimsoll/workload/oltp"
	"plimsoll/workload/tpcc"
	"plimsoll/workload/ycsb"
)

func TestTheReferenceIsMadeOfTheCode(t *testing.T) {
	for _, m := range slices.Concat(oltp.Makers(), tpcc.Makers(), ycsb.Makers(), ledger.Makers()) {
		switch m.Name {
		case "oltp_read_write", "tpcc", "kv", "ledger":
			var b strings.Builder
			if err := workload.WriteReference(&b, m); err != nil {
				t.Fatal(err)
			}
			golden.CheckBlock(t, "../docs/workloads.md", "parameters of "+m.Name, b.String())
		}
	}
}
