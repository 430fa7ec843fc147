package cql

import (
	"context"
	"math/big"
	"slices"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

var (
	_ engine.Metered      = (*database)(nil)
	_ engine.Instrumented = Engine{}
)

// stages are the thread pools that say what nodes are busy with, and as which signals their tasks are kept.
var stages = map[string]struct{ done, waiting, refused string }{
	"Native-Transport-Requests": {"cql.requests_per_second", "cql.pending_requests", "cql.refused_requests_per_second"},
	"ReadStage":                 {"cql.replica_reads_per_second", "cql.pending_reads", ""},
	"MutationStage":             {"cql.replica_writes_per_second", "cql.pending_writes", ""},
	"CompactionExecutor":        {"cql.compactions_per_second", "cql.pending_compactions", ""},
	"MemtableFlushWriter":       {"cql.flushes_per_second", "cql.pending_flushes", ""},
	"HintsDispatcher":           {"cql.hint_dispatches_per_second", "cql.pending_hint_dispatches", ""},
}

// The other signals.
const (
	nodesUp          = "cql.nodes_answering"
	compactionLeft   = "cql.compaction_bytes_left"
	hintFiles        = "cql.hint_files"
	streamsLeft      = "cql.stream_bytes_left"
	keyCacheHits     = "cql.key_cache_hits_per_second"
	keyCacheRequests = "cql.key_cache_requests_per_second"
	keyCacheSize     = "cql.key_cache_bytes"
)

// Signals are what Readings shows.
func (Engine) Signals() []string {
	all := []string{nodesUp, compactionLeft, hintFiles, streamsLeft, keyCacheHits, keyCacheRequests, keyCacheSize}
	for _, s := range stages {
		all = append(all, s.done, s.waiting)
		if s.refused != "" {
			all = append(all, s.refused)
		}
	}
	slices.Sort(all)
	return all
}

// level is one number of one node.
type level struct {
	signal  string
	value   float64
	counter bool
}

// Readings adds up what the nodes show. One that does not answer counts with its last counters, so that their sum does not
// fall, and with nothing else.
func (d *database) Readings(ctx context.Context) ([]engine.Reading, error) {
	type node struct {
		address string
		levels  []level
	}
	nodes, err := everywhere(ctx, d.control, "read the status", func(ctx context.Context, s *gocql.Session, address string) ([]node, error) {
		levels, err := levelsOf(ctx, s)
		return []node{{address, levels}}, err
	})
	if err != nil {
		return nil, err
	}
	now := map[string]map[string]level{}
	for _, n := range nodes {
		now[n.address] = map[string]level{}
		for _, l := range n.levels {
			now[n.address][l.signal] = l
		}
	}
	sums := map[string]engine.Reading{}
	for _, its := range d.control.remember(now) {
		for signal, l := range its {
			sum := sums[signal]
			sums[signal] = engine.Reading{Signal: signal, Value: sum.Value + l.value, Counter: l.counter}
		}
	}
	sums[nodesUp] = engine.Reading{Signal: nodesUp, Value: float64(len(nodes))}
	var out []engine.Reading
	for _, r := range sums {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b engine.Reading) int { return strings.Compare(a.Signal, b.Signal) })
	return out, nil
}

// remember puts the last counters of nodes that said nothing now beside what the others said.
func (c *control) remember(now map[string]map[string]level) map[string]map[string]level {
	c.mu.Lock()
	defer c.mu.Unlock()
	for address, then := range c.levels {
		if now[address] != nil {
			continue
		}
		kept := map[string]level{}
		for signal, l := range then {
			if !l.counter {
				l.value = 0
			}
			kept[signal] = l
		}
		now[address] = kept
	}
	c.levels = now
	return now
}

// levelsOf is what a node shows.
func levelsOf(ctx context.Context, s *gocql.Session) ([]level, error) {
	var all []level
	pools := s.Query("SELECT name, completed_tasks, pending_tasks, blocked_tasks_all_time FROM system_views.thread_pools").IterContext(ctx)
	var name string
	var done, pending, blocked int64
	for pools.Scan(&name, &done, &pending, &blocked) {
		stage, ok := stages[name]
		if !ok {
			continue
		}
		all = append(all, level{stage.done, float64(done), true}, level{stage.waiting, float64(pending), false})
		if stage.refused != "" {
			all = append(all, level{stage.refused, float64(blocked), true})
		}
	}
	if err := pools.Close(); err != nil {
		return nil, err
	}
	backlog, err := backlogOf(ctx, s)
	if err != nil {
		return nil, err
	}
	caches := s.Query("SELECT hit_count, request_count, size_bytes FROM system_views.caches WHERE name = 'keys'")
	var hits, requests, size int64
	if err := caches.ScanContext(ctx, &hits, &requests, &size); err != nil {
		return nil, err
	}
	return append(all,
		level{compactionLeft, backlog.compaction, false},
		level{hintFiles, backlog.hints, false},
		level{streamsLeft, backlog.streams, false},
		level{keyCacheHits, float64(hits), true},
		level{keyCacheRequests, float64(requests), true},
		level{keyCacheSize, float64(size), false},
	), nil
}

// backlog is a node's work that is left to do behind the load.
type backlog struct{ compaction, hints, streams float64 } // bytes, files, bytes

func backlogOf(ctx context.Context, s *gocql.Session) (backlog, error) {
	var b backlog
	tasks := s.Query("SELECT progress, total, unit FROM system_views.sstable_tasks").IterContext(ctx)
	var progress, total int64
	var unit string
	for tasks.Scan(&progress, &total, &unit) {
		if unit == "bytes" {
			b.compaction += float64(max(total-progress, 0))
		}
	}
	if err := tasks.Close(); err != nil {
		return b, err
	}
	hints := s.Query("SELECT files FROM system_views.pending_hints").IterContext(ctx)
	var files int
	for hints.Scan(&files) {
		b.hints += float64(files)
	}
	if err := hints.Close(); err != nil {
		return b, err
	}
	streams := s.Query("SELECT status, bytes_sent, bytes_to_send, bytes_received, bytes_to_receive FROM system_views.streaming").IterContext(ctx)
	var status string
	var sent, toSend, received, toReceive big.Int
	for streams.Scan(&status, &sent, &toSend, &received, &toReceive) {
		if status == "start" || status == "init" {
			b.streams += left(&sent, &toSend) + left(&received, &toReceive)
		}
	}
	return b, streams.Close()
}

func left(done, all *big.Int) float64 {
	f, _ := new(big.Float).SetInt(new(big.Int).Sub(all, done)).Float64()
	return max(f, 0)
}
