package cql

import (
	"context"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// How quiet is told.
//
// Under a steady load of writes there are always a flush and a small compaction somewhere; after a bulk load there are
// gigabytes of them to come. So what counts is how much is left: bytes that compactions under way have still to read, and
// tasks that wait for a thread. Hints mean that a node missed writes, and streams that data is on its way: neither belongs
// into a measurement.
const (
	calmCompaction = 64 * mib // per node: a second's work
	calmWaiting    = 2        // tasks per node
)

// PendingWork adds up the background work of all nodes that answer.
func (d *database) PendingWork(ctx context.Context) ([]engine.Pending, error) {
	type work struct {
		backlog
		compactions, flushes float64
	}
	nodes, err := everywhere(ctx, d.control, "read the pending work", func(ctx context.Context, s *gocql.Session, _ string) ([]work, error) {
		var w work
		var err error
		if w.backlog, err = backlogOf(ctx, s); err != nil {
			return nil, err
		}
		pools := s.Query("SELECT name, pending_tasks FROM system_views.thread_pools").IterContext(ctx)
		var name string
		var waiting int
		for pools.Scan(&name, &waiting) {
			switch name {
			case "CompactionExecutor":
				w.compactions = float64(waiting)
			case "MemtableFlushWriter":
				w.flushes = float64(waiting)
			}
		}
		return []work{w}, pools.Close()
	})
	if err != nil {
		return nil, err
	}
	var sum work
	for _, w := range nodes {
		sum.compaction += w.compaction
		sum.hints += w.hints
		sum.streams += w.streams
		sum.compactions += w.compactions
		sum.flushes += w.flushes
	}
	n := float64(len(nodes))
	return []engine.Pending{
		{Signal: "cql.compaction_bytes_left", Value: sum.compaction, Calm: n * float64(calmCompaction)},
		{Signal: "cql.pending_compactions", Value: sum.compactions, Calm: n * calmWaiting},
		{Signal: "cql.pending_flushes", Value: sum.flushes, Calm: n * calmWaiting},
		{Signal: "cql.hint_files", Value: sum.hints},
		{Signal: "cql.stream_bytes_left", Value: sum.streams},
	}, nil
}
