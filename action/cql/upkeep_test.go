package cql

import (
	"slices"
	"testing"

	"plimsoll/action"
	"plimsoll/engine"
)

// What is told of a cleanup counts what is done, and no other work.
func TestWorkOnFilesIsTold(t *testing.T) {
	s := &stage{part: engine.Normal}
	r := &ring{cluster: s.on()}
	r.nodes, _ = r.cluster.List(t.Context())
	u, seen := cleanupAction.New().(*upkeep), new(work)
	of := func(id, kind, node string, done, total int64) engine.Task {
		return engine.Task{ID: id, Kind: kind, Node: node, Done: done, Total: total}
	}
	const n1 = "10.0.0.1:9042"
	for _, c := range []struct {
		tasks []engine.Task
		says  string
	}{
		{nil, "-1.00 nodetool cleanup"},
		{[]engine.Task{of("1", "cleanup", n1, 90e6, 100e6), of("8", "compaction", n1, 1e6, 9e6), of("9", "cleanup", "10.0.0.2:9042", 1e6, 9e6)}, "-1.00 nodetool cleanup; 90.0 MB of 100.0 MB under way"},
		{[]engine.Task{of("2", "cleanup", n1, 1e6, 10e6)}, "-1.00 nodetool cleanup: 100.0 MB in 1 tasks done; 1.0 MB of 10.0 MB under way"},
		{nil, "-1.00 nodetool cleanup: 110.0 MB in 2 tasks done"},
	} {
		var told []string
		s.tasks = c.tasks
		u.told(t.Context(), seen, r, r.nodes[0], listening(&told))
		if len(told) != 1 || told[0] != c.says {
			t.Errorf("told %q, want %q", told, c.says)
		}
	}
	seen.all = 220e6
	s.tasks = []engine.Task{of("3", "cleanup", n1, 55e6, 90e6)}
	var told []string
	u.told(t.Context(), seen, r, r.nodes[0], listening(&told))
	if want := "0.75 nodetool cleanup: 110.0 MB in 2 tasks done; 55.0 MB of 90.0 MB under way"; !slices.Equal(told, []string{want}) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// What a node holds is told before compression, whether repaired or not; only the keyspaces that are meant count.
func TestWhatANodeHolds(t *testing.T) {
	const said = `{"total_number_of_tables" : 4,
 "shop" : {"write_latency_ms" : null, "read_latency_ms" : "NaN", "tables" : {
  "orders" : {"space_used_live" : "5131", "sstable_compression_ratio" : 0.5, "bytes_repaired" : 0, "bytes_unrepaired" : 10240, "bytes_pending_repair" : 2},
  "lines" : {"bytes_repaired" : 300, "bytes_unrepaired" : 4000, "bytes_pending_repair" : 0}}},
 "system" : {"tables" : {"local" : {"bytes_repaired" : 0, "bytes_unrepaired" : 77, "bytes_pending_repair" : 0}}}}`
	for want, only := range map[int64]map[string]bool{14542: {"shop": true}, 14619: {"shop": true, "system": true}, 0: {"none": true}} {
		if got, err := parseHeld([]byte(said), only); got != want || err != nil {
			t.Errorf("%v: %d, %v, want %d", only, got, err, want)
		}
	}
	if _, err := parseHeld([]byte("Total number of tables: 4"), nil); err == nil {
		t.Error("text was taken for JSON")
	}
}

// On a ring of one node there is nothing to repair, which nodetool would fail at; there may be something to clean up.
func TestARingOfOneNodeNeedsNoRepair(t *testing.T) {
	s := &stage{part: engine.Normal, replicas: 1, forgotten: true}
	on := s.on(s.node(true))
	if f, err := (&repair{Node: "n2"}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("a repair: %+v, %v", f, err)
	}
	clean := cleanupAction.New().(*upkeep)
	clean.Node = "n2"
	if f, err := clean.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Needed {
		t.Errorf("a cleanup: %+v, %v", f, err)
	}
}

// A keyspace that is not there is refused before anything is begun.
func TestUpkeepOfAKeyspaceThatIsNotThereIsRefused(t *testing.T) {
	s := &stage{part: engine.Normal, replicas: 2}
	on := s.on(s.node(true))
	clean := cleanupAction.New().(*upkeep)
	clean.Node = "n2"
	for _, u := range []*upkeep{(&repair{Node: "n2"}).upkeep(), clean} {
		u.Keyspace = "shpo"
		_, err := u.Check(t.Context(), on.ReadOnly())
		refused(t, err, "there is no replicated keyspace shpo", "did you mean shop?")
		u.Keyspace = "nope"
		_, err = u.Check(t.Context(), on.ReadOnly())
		refused(t, err, "there is no replicated keyspace nope", "there are shop")
		for _, known := range []string{"shop", ""} {
			u.Keyspace = known
			if f, err := u.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Needed {
				t.Errorf("%s of %q: %+v, %v", u.kind, known, f, err)
			}
		}
	}
}
