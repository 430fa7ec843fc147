package cql

import (
	"context"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

var _ engine.CacheCounting = (*database)(nil)

// sizedBy is the setting of cassandra.yaml that sizes a cache, by its name in system_views.caches.
var sizedBy = map[string]string{
	"chunks": "file_cache_size", "keys": "key_cache_size", "rows": "row_cache_size", "counters": "counter_cache_size",
}

func (d *database) Caches(ctx context.Context) ([]engine.Cache, error) {
	return fromAll(ctx, d.control, "read the caches", func(ctx context.Context, s *gocql.Session, node string) ([]engine.Cache, error) {
		rows := s.Query("SELECT name, capacity_bytes, size_bytes, entry_count, hit_count, request_count FROM system_views.caches").IterContext(ctx)
		var all []engine.Cache
		for {
			one := engine.Cache{Node: node}
			if !rows.Scan(&one.Name, &one.Capacity, &one.Size, &one.Entries, &one.Hits, &one.Requests) {
				return all, rows.Close()
			}
			one.Setting = sizedBy[one.Name]
			all = append(all, one)
		}
	})
}
