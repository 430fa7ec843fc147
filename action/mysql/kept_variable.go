package mysql

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// keeper is where a server's values for after a restart stand.
type keeper interface {
	kept(ctx context.Context, name string) (value string, err error) // notKept if there is none
	keep(ctx context.Context, name, value string) error
	forget(ctx context.Context, name string) error
}

// keeperOf is the server's own file of persisted variables, if it loads that when it starts, or what it is started with where Plimsoll writes that, as
// for a lab's MariaDB.
func keeperOf(ctx context.Context, on *cluster.Cluster, node string, facts engine.Facts) (keeper, error) {
	why := fmt.Sprintf("%s %s cannot persist a variable over a restart: it has no SET PERSIST", facts.Product, facts.Version)
	if keeps(facts) {
		loads, err := on.Value(ctx, node, admin.LoadsPersisted)
		if err != nil {
			return nil, err
		}
		if !admin.IsOff(loads) {
			return persisted{on, node}, nil
		}
		why = ignoresPersisted
	}
	n, err := on.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if own, ok := cluster.As[cluster.Assignable](n.Server); ok {
		return started{own}, nil
	}
	return nil, &hint.PermanentError{
		Reason: why,
		Advice: "write it into the server's option file; use persist: no to change a dynamic variable until the next restart",
	}
}

// ignoresPersisted is why nothing is kept in MySQL's own file.
const ignoresPersisted = "the server ignores persisted variables when it starts: persisted_globals_load is OFF"

// persisted is MySQL's own file, mysqld-auto.cnf.
type persisted struct {
	on   *cluster.Cluster
	node string
}

func (p persisted) kept(ctx context.Context, name string) (string, error) {
	return p.on.Value(ctx, p.node, admin.Persisted(name))
}

func (p persisted) keep(ctx context.Context, name, value string) error {
	return p.on.Execute(ctx, p.node, []string{admin.Persist(name, admin.Value(value))}, func(int) {})
}

func (p persisted) forget(ctx context.Context, name string) error {
	return p.on.Execute(ctx, p.node, []string{admin.Unpersist(name)}, func(int) {})
}

// started is what a server is given when it is started.
type started struct{ own cluster.Assignable }

func (s started) kept(ctx context.Context, name string) (string, error) {
	settings, err := s.own.Assigned(ctx)
	if err != nil {
		return "", err
	}
	for given, value := range settings {
		if sameName(given, name) {
			return value, nil
		}
	}
	return notKept, nil
}

func (s started) keep(ctx context.Context, name, value string) error {
	before, err := s.own.Assigned(ctx)
	if err != nil {
		return err
	}
	others := map[string]string{}
	for given := range before {
		if sameName(given, name) {
			others[given] = ""
		}
	}
	others[name] = value
	return cluster.Reassign(ctx, s.own, others)
}

func (s started) forget(ctx context.Context, name string) error { return s.keep(ctx, name, "") }

// sameName compares names of variables as option files do.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", "_"), strings.ReplaceAll(b, "-", "_"))
}
