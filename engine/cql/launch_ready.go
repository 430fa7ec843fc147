package cql

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Ready tries to log in as the administrator, whose account the first node of a new ring does not have yet: then it is created. A server
// opens its port only when it is a full member of its ring.
func (s Servers) Ready(ctx context.Context, _ infra.Machine, n engine.Node) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(n.Address, strconv.Itoa(n.Port)))
	if err != nil {
		return fmt.Errorf("it is not listening yet: %w", err)
	}
	_ = conn.Close()
	admin, err := logIn(ctx, n, administrator, n.Password)
	if engine.ClassOf(err) == engine.Denied && begins(n) {
		return makeAdministrator(ctx, n)
	}
	if err != nil {
		return err
	}
	shut(admin)
	return nil
}

// logIn opens a session with one node alone.
func logIn(ctx context.Context, n engine.Node, user string, password engine.Secret) (*gocql.Session, error) {
	t, err := newTarget(Servers{}.Target([]engine.Node{n}))
	if err != nil {
		return nil, err
	}
	t.User, t.Password = user, password
	return alone(ctx, t, t.Addresses[0])
}

// makeAdministrator uses the account that every new ring begins with, and locks it. Roles are then to be on the first
// three nodes: those that join get them with their ranges.
func makeAdministrator(ctx context.Context, n engine.Node) error {
	const first = "cassandra"
	own, err := settingsOf(n)
	if err != nil {
		return err
	}
	s, err := logIn(ctx, n, first, first)
	if err != nil {
		return fmt.Errorf("the default superuser does not exist yet: %w", err)
	}
	err = s.Query("CREATE ROLE IF NOT EXISTS " + administrator + " WITH SUPERUSER = true AND LOGIN = true AND PASSWORD = " +
		quote(string(n.Password))).ExecContext(ctx)
	shut(s)
	if err != nil {
		return fmt.Errorf("make the administrator: %w", err)
	}
	admin, err := logIn(ctx, n, administrator, n.Password)
	if err != nil {
		return fmt.Errorf("log in as the new administrator: %w", err)
	}
	defer shut(admin)
	for _, text := range []string{
		"ALTER KEYSPACE system_auth WITH replication = {'class': 'NetworkTopologyStrategy', '" + own.place["dc"] + "': 3}",
		"ALTER ROLE " + first + " WITH SUPERUSER = false AND LOGIN = false AND PASSWORD = " + quote(rand.Text()),
	} {
		if err := admin.Query(text).ExecContext(ctx); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
