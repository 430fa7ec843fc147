package singlestore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/engine"
)

// Moves reads information_schema.MV_REBALANCE_STATUS, which the master aggregator has of the operations that execute.
func (d *database) Moves(ctx context.Context) ([]engine.Move, error) {
	rows, err := d.rows(ctx, "SELECT * FROM information_schema.MV_REBALANCE_STATUS")
	if err != nil {
		return nil, fmt.Errorf("ask how far the rebalance is: %w", err)
	}
	moves := make([]engine.Move, len(rows))
	for i, r := range rows {
		moves[i] = r.move(r["database_name"])
	}
	return moves, nil
}

// Planned asks EXPLAIN REBALANCE PARTITIONS.
func (d *database) Planned(ctx context.Context, database string) ([]engine.Move, error) {
	rows, err := d.rows(ctx, "EXPLAIN REBALANCE PARTITIONS ON "+Engine{}.Quote(database))
	if err != nil {
		return nil, fmt.Errorf("explain a rebalance of %s: %w", database, err)
	}
	moves := make([]engine.Move, len(rows))
	for i, r := range rows {
		moves[i] = r.move(database)
	}
	return moves, nil
}

func (r row) move(database string) engine.Move {
	return engine.Move{
		Database: database, Action: strings.ToUpper(r["action"]), Ordinal: r.number("ordinal"), Target: r.address("target_host", "target_port"),
		Phase: r.number("phase"), Status: strings.ToLower(r["status"]),
		Took: time.Duration(r.number("running_time")) * time.Millisecond,
		Left: time.Duration(r.number("estimated_time_remaining_ms")) * time.Millisecond,
	}
}
