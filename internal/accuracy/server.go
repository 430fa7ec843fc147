package main

import (
	"context"
	"errors"
	"os"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/load"
	"plimsoll/workload"
)

// server is a real MariaDB with a small table in memory, to be measured against what must come out.
type server struct {
	cluster *lab.Cluster
	db      engine.Database
	work    workload.Workload
}

// startServer makes a server of its own and loads the table.
func startServer(ctx context.Context, home string) (_ *server, err error) {
	machine, err := catalog.Machine()
	if err != nil {
		return nil, err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return nil, err
	}
	deps := lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache}
	s := &server{}
	if s.cluster, err = lab.Up(ctx, lab.Spec{Name: "accuracy", Product: "mariadb"}, deps); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	name := &document.Node{Kind: document.Scalar, Text: "oltp_point_select"}
	if s.work, err = catalog.Workload(name, nil, catalog.Products()["mariadb"].Engine); err != nil {
		return nil, err
	}
	return s, s.work.Prepare(ctx, s.db, func(int64, int64, string) {})
}

func (s *server) open(ctx context.Context) error {
	target, err := s.cluster.Target()
	if err != nil {
		return err
	}
	e := catalog.Products()["mariadb"].Engine
	db, err := e.Open(ctx, target)
	if err != nil {
		return err
	}
	defer db.Close()
	target.Namespace = "accuracy"
	if err := db.(engine.Namespaced).MakeNamespace(ctx, target.Namespace); err != nil {
		return err
	}
	s.db, err = e.Open(ctx, target)
	return err
}

func (s *server) stop() error {
	var closed error
	if s.db != nil {
		closed = s.db.Close()
	}
	return errors.Join(closed, s.cluster.Down(context.Background()))
}

// load issues point selects.
func (s *server) load(ctx context.Context, spec load.Spec, seed uint64, each func(load.Second)) (load.Summary, error) {
	spec.Operations = s.work.Operations()
	return load.Run(ctx, spec, s.work.Connect(s.db, seed), each)
}
