package cql

import (
	"context"
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// MakeAccount makes a role that may log in.
func (d *database) MakeAccount(ctx context.Context, user string, password engine.Secret, namespace string) error {
	err := d.control.use(ctx, anyNode, func(s *gocql.Session) error {
		role := quoteName(user)
		create := "CREATE ROLE IF NOT EXISTS " + role + " WITH LOGIN = true AND PASSWORD = " + quote(string(password))
		if err := s.Query(create).ExecContext(ctx); err != nil {
			return err
		}
		return s.Query("GRANT ALL PERMISSIONS ON KEYSPACE " + quoteName(namespace) + " TO " + role).ExecContext(ctx)
	})
	if err != nil {
		return fmt.Errorf("make the account %s: %w", user, err)
	}
	return nil
}
