package replication

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// server is one server of a cluster, as a part of replication.
type server struct {
	on      *cluster.Cluster
	node    cluster.Node
	mariadb bool
	version string
	dialect admin.Dialect

	opensWithin time.Duration // how long it has to take writes or to refuse them after it was asked for its lock and its clock: less than a claim is held for
}

// serverOf asks a node what it is; without a name, the primary.
func serverOf(ctx context.Context, on *cluster.Cluster, name string) (*server, error) {
	n, err := on.Node(ctx, name)
	if err != nil {
		return nil, err
	}
	db, err := on.Database(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	facts, err := db.Facts(ctx)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	return &server{on, n, facts.Product == "MariaDB", facts.Version, admin.DialectOf(facts), admin.OpensWithin}, nil
}

func (s *server) name() string { return s.node.Name }

// address is where other servers reach it.
func (s *server) address() string { return withPort(s.node.Target.Addresses[0]) }

func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), "3306")
}

func (s *server) value(ctx context.Context, query string) (string, error) {
	v, err := s.on.Value(ctx, s.node.Name, query)
	if err != nil {
		return "", fmt.Errorf("node %s: %w", s.node.Name, err)
	}
	return v, nil
}

// asked is the server as it is asked by queries of one column.
func asked(s *server) admin.Asked {
	return admin.Asked{Name: s.name(), Column: func(ctx context.Context, query string) ([]string, error) { return s.on.Column(ctx, s.name(), query) }}
}

// refuseEvents refuses a server whose events would go on writing when it is read-only.
func refuseEvents(ctx context.Context, s *server) error {
	return admin.RefuseEvents(ctx, asked(s), s.dialect, admin.VersionOf(s.version))
}

// do gives the server orders, which end with this process: admin.Orders.Alone. A secret that is in one is in no error and in no log that the
// server keeps of statements.
func (s *server) do(ctx context.Context, secret engine.Secret, statements ...string) error {
	if secret != "" {
		statements = admin.Unlogged(statements...)
	}
	return secret.Redact(s.order(ctx, func(orders admin.Orders) error { return orders.Do(ctx, statements...) }))
}

// execute executes statements that may take long, or beside an order, and that do no harm if they are late.
func (s *server) execute(ctx context.Context, secret engine.Secret, statements ...string) error {
	if secret != "" {
		statements = admin.Unlogged(statements...)
	}
	if err := s.on.Execute(ctx, s.node.Name, statements, func(int) {}); err != nil {
		return fmt.Errorf("node %s: %w", s.node.Name, secret.Redact(err))
	}
	return nil
}

func (s *server) status(ctx context.Context) (engine.ReplicationStatus, error) {
	is, err := statusOf(ctx, s.on, s.node.Name)
	if err != nil {
		return is, fmt.Errorf("node %s: %w", s.node.Name, err)
	}
	return is, nil
}

func statusOf(ctx context.Context, on *cluster.Cluster, node string) (engine.ReplicationStatus, error) {
	db, err := on.Database(ctx, node)
	if err != nil {
		return engine.ReplicationStatus{}, err
	}
	r, ok := engine.As[engine.Replicated](db)
	if !ok {
		return engine.ReplicationStatus{}, &hint.PermanentError{Reason: "this database does not report its role in replication"}
	}
	return r.ReplicationStatus(ctx)
}

// executed is all that the server has.
func (s *server) executed(ctx context.Context) (admin.GTIDSet, error) {
	if !s.mariadb {
		return s.set(ctx, s.dialect.Position())
	}
	text, err := s.value(ctx, admin.MariaDB{}.ReplicatedAndWritten())
	if err != nil {
		return nil, err
	}
	return admin.ParsePositionSet(text, false)
}

func (s *server) set(ctx context.Context, query string) (admin.GTIDSet, error) {
	text, err := s.value(ctx, query)
	if err != nil {
		return nil, err
	}
	return admin.ParseGTIDSet(text)
}

// received is all that the server has or has taken from the servers it follows.
func (s *server) received(ctx context.Context, is engine.ReplicationStatus) (admin.GTIDSet, error) {
	all, err := s.executed(ctx)
	if err != nil {
		return nil, err
	}
	for _, source := range is.Sources {
		taken, err := parsePosition(s, source.Received)
		if err != nil {
			return nil, err
		}
		all = all.With(taken)
	}
	return all, nil
}

func parsePosition(s *server, text string) (admin.GTIDSet, error) {
	if s.mariadb {
		return admin.ParsePositionSet(text, false)
	}
	return admin.ParseGTIDSet(text)
}

// isSource tells whether a source is this server, by its address or, since others may call it otherwise, by its number.
func (s *server) isSource(source engine.Source, id string) bool {
	return source.Address == s.address() || id != "" && id != "0" && source.ServerID == id
}
