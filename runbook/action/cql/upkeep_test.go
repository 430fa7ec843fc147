package cql

import (
	"testing"

	"plimsoll/engine"
)

// What is told of a cleanup counts what is done, and no other work.
func TestWorkOnFilesIsTold(t *testing.T) {
	s := &stage{part: engine.Normal}
	r := &ring{site: s.site()}
	r.nodes, _ = r.site.List(t.Context())
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
}
