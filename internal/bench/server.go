package main

import (
	"context"
	"fmt"
	"os"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/lab"
)

// The labs that are measured on, unless a server is named.
var (
	mariadb   = lab.Spec{Name: "bench", Product: "mariadb", Config: map[string]string{"innodb_buffer_pool_size": "256M"}}
	cassandra = lab.Spec{Name: "bench", Product: "cassandra"}
)

// database is where both clients find their tables in a lab of its own.
const database = "sbtest"

// server is the one that was named, or a lab's of its own until release.
func (o options) server(ctx context.Context, spec lab.Spec) (target engine.Target, release func(), err error) {
	if o.target != "" {
		target, err = engine.ParseTarget(o.target)
		return target, func() {}, err
	}
	machine, err := catalog.Machine()
	if err != nil {
		return target, nil, err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return target, nil, err
	}
	home, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return target, nil, err
	}
	cluster, err := lab.Up(ctx, spec, lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache})
	if err != nil {
		return target, nil, err
	}
	release = func() {
		if err := cluster.Down(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.RemoveAll(home)
	}
	if target, err = makeDatabase(ctx, cluster); err != nil {
		release()
		return target, nil, err
	}
	return target, release, nil
}

func makeDatabase(ctx context.Context, cluster *lab.Cluster) (engine.Target, error) {
	target, err := cluster.Target()
	if err != nil {
		return target, err
	}
	e, err := catalog.EngineOf(target)
	if err != nil {
		return target, err
	}
	db, err := e.Open(ctx, target)
	if err != nil {
		return target, err
	}
	defer db.Close()
	target.Namespace = database
	return target, db.(engine.Namespaced).MakeNamespace(ctx, target.Namespace)
}
