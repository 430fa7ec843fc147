package probe

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/superdisk/superdisktest"
)

// recorded is a machine that answers what a real one has answered.
type recorded struct {
	infra.Machine
	t    *testing.T
	says string
}

func (r *recorded) Name() string { return "recorded" }

func (r *recorded) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	said, err := os.ReadFile(filepath.Join("..", "superdisk", "testdata", r.says+".txt"))
	return superdisktest.Snapshot(string(said)), err
}

func TestTheLegsOfASuperDiskAreShown(t *testing.T) {
	m := &recorded{t: t}
	p := NewSuperDisk("n1", func(context.Context) (infra.Machine, error) { return m, nil })
	now := time.Now()
	read := func(says string) map[string]float64 {
		t.Helper()
		m.says, now = says, now.Add(2*time.Second)
		points, err := p.Read(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]float64{}
		for _, one := range points {
			seen[strings.TrimPrefix(one.Signal, "superdisk.")] = one.Value
			if one.Node != "n1" || !slices.Contains(SuperDiskSignals(), one.Signal) {
				t.Errorf("%+v", one)
			}
		}
		return seen
	}
	for says, want := range map[string][2]float64{"whole": {1, 1}, "network-failed": {1, 0}, "network-removed": {1, 0}, "network-alone": {0, 1}} {
		seen := read(says)
		if got := [2]float64{seen["local_in_step_share"], seen["network_in_step_share"]}; got != want {
			t.Errorf("%s: local and network leg are %v, want %v", says, got, want)
		}
	}
	if share := read("network-recovers")["network_in_step_share"]; share <= 0 || share >= 1 {
		t.Errorf("a leg that is brought into step has %v of what was written", share)
	}
	if seen := read("inactive"); len(seen) > 0 {
		t.Errorf("of an array that does not run: %v", slices.Collect(maps.Keys(seen)))
	}
	read("whole")
	if seen := read("whole"); len(seen) != len(SuperDiskSignals()) || seen["network_reads_per_second"] != 0 {
		t.Errorf("of a whole array: %v", seen)
	}
}
