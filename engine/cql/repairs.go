package cql

import (
	"context"
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// Repairs asks a node for the repairs that it coordinates, and how many of their jobs are over: one for each table in each
// session of ranges that have the same replicas (system_views.repairs, repair_sessions and repair_jobs, Cassandra 5.0).
func (d *database) Repairs(ctx context.Context, asked string) (all []engine.Repair, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err = d.control.use(ctx, asked, func(s *gocql.Session) error {
		all, err = repairs(ctx, s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the repairs: %w", err)
	}
	return all, nil
}

func repairs(ctx context.Context, s *gocql.Session) ([]engine.Repair, error) {
	var all []engine.Repair
	rows := s.Query("SELECT id, keyspace_name, state_init_timestamp, completed, ranges FROM system_views.repairs").IterContext(ctx)
	for {
		var one engine.Repair
		var id gocql.UUID
		var groups [][]string
		if !rows.Scan(&id, &one.Keyspace, &one.Began, &one.Over, &groups) {
			break
		}
		one.ID = id.String()
		for _, group := range groups {
			one.Ranges += float64(len(group))
		}
		all = append(all, one)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	over, err := jobsOver(ctx, s)
	if err != nil {
		return nil, err
	}
	sessions := s.Query("SELECT id, repair_id, ranges, table_names FROM system_views.repair_sessions").IterContext(ctx)
	var id, of gocql.UUID
	var ranges, tables []string
	for sessions.Scan(&id, &of, &ranges, &tables) {
		for i := range all {
			if all[i].ID == of.String() && len(tables) > 0 {
				all[i].Done += float64(len(ranges)) * float64(over[id]) / float64(len(tables))
			}
		}
	}
	return all, sessions.Close()
}

// jobsOver is how many jobs of each session are over.
func jobsOver(ctx context.Context, s *gocql.Session) (map[gocql.UUID]int, error) {
	over := map[gocql.UUID]int{}
	jobs := s.Query("SELECT session_id, completed FROM system_views.repair_jobs").IterContext(ctx)
	var session gocql.UUID
	var is bool
	for jobs.Scan(&session, &is) {
		if is {
			over[session]++
		}
	}
	return over, jobs.Close()
}

func (d *database) Sizes(ctx context.Context, asked string) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var sizes map[string]int64
	err := d.control.use(ctx, asked, func(s *gocql.Session) error {
		sizes = map[string]int64{}
		rows := s.Query("SELECT keyspace_name, mebibytes FROM system_views.disk_usage").IterContext(ctx)
		var keyspace string
		var mebibytes int64
		for rows.Scan(&keyspace, &mebibytes) {
			sizes[keyspace] += mebibytes << 20
		}
		return rows.Close()
	})
	if err != nil {
		return nil, fmt.Errorf("read the sizes: %w", err)
	}
	return sizes, nil
}
