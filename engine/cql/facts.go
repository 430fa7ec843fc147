package cql

import (
	"context"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

func (d *database) Facts(ctx context.Context) (engine.Facts, error) {
	facts := engine.Facts{Product: "Cassandra", Details: map[string]string{}}
	err := d.control.use(ctx, anyNode, func(s *gocql.Session) error {
		about := map[string]*string{}
		names := []string{"release_version", "cluster_name", "partitioner", "data_center", "rack", "cql_version", "native_protocol_version"}
		var dest []any
		for _, name := range names {
			about[name] = new(string)
			dest = append(dest, about[name])
		}
		if err := s.Query("SELECT "+strings.Join(names, ", ")+" FROM system.local").ScanContext(ctx, dest...); err != nil {
			return err
		}
		for name, value := range about {
			facts.Details[name] = *value
		}
		facts.Version = facts.Details["release_version"]
		var version string
		if s.Query("SELECT version FROM system.versions").ScanContext(ctx, &version) == nil { // ScyllaDB alone has such a table
			facts.Product, facts.Version = "ScyllaDB", version
			facts.Details["version"] = version
		}
		return ctx.Err()
	})
	facts.Version, _, _ = strings.Cut(facts.Version, "-") // 5.0.4 of 5.0.4-SNAPSHOT
	facts.Version, _, _ = strings.Cut(facts.Version, "~")
	return facts, err
}
