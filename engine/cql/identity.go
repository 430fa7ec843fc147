package cql

import (
	"context"
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

var _ engine.Identifiable = (*database)(nil)

// Identity is the host id of the node at the target's first address.
func (d *database) Identity(ctx context.Context) (string, error) {
	var host gocql.UUID
	err := d.control.use(ctx, d.target.Addresses[0], func(s *gocql.Session) error {
		return s.Query("SELECT host_id FROM system.local").ScanContext(ctx, &host)
	})
	if err != nil {
		return "", fmt.Errorf("ask which node it is: %w", err)
	}
	return "host id " + host.String(), nil
}
