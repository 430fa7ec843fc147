package cql

import (
	"context"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

func (d *database) Streams(ctx context.Context) ([]engine.Stream, error) {
	return everywhere(ctx, d.control, "read the streams", func(ctx context.Context, s *gocql.Session, node string) ([]engine.Stream, error) {
		rows := s.Query(`SELECT id, operation, peers, status, follower, bytes_sent, bytes_to_send, bytes_received, bytes_to_receive,
			status_init_timestamp, last_updated_at, failure_cause FROM system_views.streaming`).IterContext(ctx)
		var all []engine.Stream
		for {
			one := engine.Stream{Node: node}
			var id gocql.UUID
			if !rows.Scan(&id, &one.Operation, &one.Peers, &one.Status, &one.Follower, &one.Sent, &one.ToSend, &one.Received, &one.ToReceive,
				&one.Began, &one.Updated, &one.Cause) {
				return all, rows.Close()
			}
			one.ID = id.String()
			for i, peer := range one.Peers { // host/127.0.0.1:7000, where the host may be missing
				_, one.Peers[i], _ = strings.Cut(peer, "/")
			}
			all = append(all, one)
		}
	})
}

func (d *database) Tasks(ctx context.Context) ([]engine.Task, error) {
	return fromAll(ctx, d.control, "read the tasks", func(ctx context.Context, s *gocql.Session, node string) ([]engine.Task, error) {
		rows := s.Query("SELECT task_id, keyspace_name, table_name, kind, progress, total, unit FROM system_views.sstable_tasks").IterContext(ctx)
		var all []engine.Task
		for {
			one := engine.Task{Node: node}
			var id gocql.UUID
			if !rows.Scan(&id, &one.Keyspace, &one.Table, &one.Kind, &one.Done, &one.Total, &one.Unit) {
				return all, rows.Close()
			}
			one.ID = id.String()
			all = append(all, one)
		}
	})
}

func (d *database) Hints(ctx context.Context) ([]engine.Hint, error) {
	return fromAll(ctx, d.control, "read the hints", func(ctx context.Context, s *gocql.Session, node string) ([]engine.Hint, error) {
		rows := s.Query("SELECT host_id, files, oldest FROM system_views.pending_hints").IterContext(ctx)
		var all []engine.Hint
		for {
			one := engine.Hint{Node: node}
			var host gocql.UUID
			var oldest time.Time
			if !rows.Scan(&host, &one.Files, &oldest) {
				return all, rows.Close()
			}
			one.For, one.Since = host.String(), oldest
			all = append(all, one)
		}
	})
}
