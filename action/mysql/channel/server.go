package channel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// server is one node, with a session and what must be known to talk to it.
type server struct {
	engine.Session
	admin.Dialect
	on     *cluster.Cluster
	name   string // for people: with its cluster, if that is another
	node   string
	target engine.Target
	facts  engine.Facts
	host   string
	port   string
}

// hasChannels refuses servers from before there were channels.
func hasChannels(f engine.Facts) error {
	if f.Product != "MariaDB" && admin.VersionOf(f.Version).Less(admin.Version{5, 7, 0}) {
		return fmt.Errorf("%s %s is too old: replication channels came with MySQL 5.7", f.Product, f.Version)
	}
	return nil
}

// dial connects to a node; that of another cluster is called CLUSTER/NODE.
func dial(ctx context.Context, on *cluster.Cluster, node string) (*server, error) {
	called := node
	if cluster, of, other := strings.Cut(node, "/"); other {
		var err error
		if on, err = on.Cluster(ctx, cluster); err != nil {
			return nil, err
		}
		node = of
	}
	n, err := on.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if called == "" {
		called = n.Name
	}
	db, err := on.Database(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	facts, err := db.Facts(ctx)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	s := &server{on: on, name: called, node: n.Name, target: n.Target, facts: facts, Dialect: admin.DialectOf(facts)}
	if err := hasChannels(facts); err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	if s.host, s.port, err = net.SplitHostPort(n.Target.Addresses[0]); err != nil {
		s.host, s.port = n.Target.Addresses[0], "3306"
	}
	if s.Session, err = db.Session(ctx); err != nil {
		return nil, err
	}
	if plain, is := s.Dialect.(admin.MySQL); is {
		procedures, err := s.rows(ctx, admin.RDSProcedures)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.Dialect = plain.OnRDS(procedures)
	}
	return s, nil
}

// addressOf is where a node is reached, as channels call it. It need not answer.
func addressOf(ctx context.Context, on *cluster.Cluster, node string) (string, error) {
	if cluster, of, other := strings.Cut(node, "/"); other {
		var err error
		if on, err = on.Cluster(ctx, cluster); err != nil {
			return "", err
		}
		node = of
	}
	n, err := on.Node(ctx, node)
	if err != nil {
		return "", err
	}
	if host, port, err := net.SplitHostPort(n.Target.Addresses[0]); err == nil {
		return net.JoinHostPort(host, port), nil
	}
	return net.JoinHostPort(n.Target.Addresses[0], "3306"), nil
}

// pair connects to two nodes.
func pair(ctx context.Context, on *cluster.Cluster, first, second string) (a, b *server, err error) {
	if a, err = dial(ctx, on, first); err != nil {
		return nil, nil, err
	}
	if b, err = dial(ctx, on, second); err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	if a.address() == b.address() {
		return nil, nil, errors.Join(&hint.PermanentError{
			Reason: fmt.Sprintf("source and replica are both node %s", a.name), Advice: "name two nodes",
		}, a.Close(), b.Close())
	}
	return a, b, nil
}

func closeAll(servers ...*server) {
	for _, s := range servers {
		_ = s.Close() // nothing is under way on it
	}
}

// rows runs a query for its rows by the names of their columns, in lower case.
func (s *server) rows(ctx context.Context, query string) ([]map[string]string, error) {
	t, ok := s.Session.(engine.Tabular)
	if !ok {
		return nil, errors.New("this database does not name its columns")
	}
	rows, err := t.Table(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", s.name, err)
	}
	for i, row := range rows {
		lower := make(map[string]string, len(row))
		for name, value := range row {
			lower[strings.ToLower(name)] = value
		}
		rows[i] = lower
	}
	return rows, nil
}

// value is the one value of a query; "" for NULL or no row.
func (s *server) value(ctx context.Context, query string) (string, error) {
	rows, err := s.rows(ctx, query)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	for _, value := range rows[0] {
		return value, nil
	}
	return "", nil
}

// asked is the server as it is asked by queries of one column.
func asked(s *server) admin.Asked {
	return admin.Asked{Name: s.name, Column: func(ctx context.Context, query string) ([]string, error) { return s.on.Column(ctx, s.node, query) }}
}

// variable is a global variable; "" if the server has none of that name.
func (s *server) variable(ctx context.Context, name string) (string, error) {
	rows, err := s.rows(ctx, admin.Variables(name))
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0]["value"], nil
}

// order gives the server orders that change how it replicates and who writes there. They end with this process: admin.Orders.Alone.
func (s *server) order(ctx context.Context, what string, statements ...string) error {
	orders := ordersTo(s, what)
	return orders.Alone(ctx, func() error { return orders.Do(ctx, statements...) })
}

// ordersTo are how a server is asked, and told by statements that the same session executes after those of before.
func ordersTo(s *server, what string, before ...string) admin.Orders {
	return admin.Orders{Name: s.name, Address: s.address(), Value: s.value, Do: func(ctx context.Context, statements ...string) error {
		return s.do(ctx, what, append(slices.Clone(before), statements...)...)
	}}
}

// do executes statements one after another. Their texts, which may hold a password, are in no error.
func (s *server) do(ctx context.Context, what string, statements ...string) error {
	for _, text := range statements {
		if err := cluster.StillOurs(ctx); err != nil {
			return err
		}
		if err := s.Exec(ctx, text, nil); err != nil {
			return fmt.Errorf("%s on %s: %w", what, s.name, err)
		}
	}
	return nil
}
