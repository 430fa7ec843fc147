package singlestore

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
)

var (
	_ engine.Metered      = (*database)(nil)
	_ engine.Instrumented = Engine{}
)

// counters and gauges are the master aggregator's status variables, and as which signal they are kept. What a version lacks is
// left out of its readings.
var (
	counters = map[string]string{
		"Questions":                "singlestore.statements_per_second",
		"Successful_read_queries":  "singlestore.reads_per_second",
		"Successful_write_queries": "singlestore.writes_per_second",
		"Failed_read_queries":      "singlestore.failed_reads_per_second",
		"Failed_write_queries":     "singlestore.failed_writes_per_second",
		"Rows_returned_by_reads":   "singlestore.rows_read_per_second",
		"Rows_affected_by_writes":  "singlestore.rows_written_per_second",
		"Aborted_connects":         "singlestore.refused_connections_per_second",
	}
	gauges = map[string]string{
		"Threads_connected": "singlestore.connections",
		"Threads_running":   "singlestore.threads_running",
	}
)

// The other signals: the leaves that serve, and what a rebalance has still to do.
const (
	leavesOnline = "singlestore.leaves_online"
	movesOpen    = "singlestore.moves_open"
)

// Signals are what Readings shows.
func (Engine) Signals() []string {
	all := []string{leavesOnline, movesOpen}
	all = slices.AppendSeq(all, maps.Values(counters))
	all = slices.AppendSeq(all, maps.Values(gauges))
	slices.Sort(all)
	return all
}

// Readings asks for the master's global status, the leaves and the moves under way.
func (d *database) Readings(ctx context.Context) ([]engine.Reading, error) {
	rows, err := d.rows(ctx, "SHOW GLOBAL STATUS")
	if err != nil {
		return nil, err
	}
	var out []engine.Reading
	for _, r := range rows {
		name := r["variable_name"]
		signal, counts := counters[name]
		if !counts {
			signal = gauges[name]
		}
		if value, err := strconv.ParseFloat(r["value"], 64); err == nil && signal != "" {
			out = append(out, engine.Reading{Signal: signal, Value: value, Counter: counts})
		}
	}
	leaves, err := d.rows(ctx, "SELECT * FROM information_schema.LEAVES")
	if err != nil {
		return nil, err
	}
	online := 0
	for _, r := range leaves {
		if strings.EqualFold(r["state"], "online") {
			online++
		}
	}
	moves, err := d.Moves(ctx)
	return append(out, engine.Reading{Signal: leavesOnline, Value: float64(online)},
		engine.Reading{Signal: movesOpen, Value: float64(open(moves))}), err
}

// PendingWork is what a rebalance has still to do.
func (d *database) PendingWork(ctx context.Context) ([]engine.Pending, error) {
	moves, err := d.Moves(ctx)
	return []engine.Pending{{Signal: movesOpen, Value: float64(open(moves))}}, err
}

func open(moves []engine.Move) (n int) {
	for _, m := range moves {
		if m.Open() {
			n++
		}
	}
	return n
}
