package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/workload"
	"plimsoll/workload/custom"
)

// memoryLab is a server with the data of a case.
type memoryLab struct {
	memoryCase
	cluster *lab.Cluster
	engine  engine.Engine
	work    workload.Workload
	db      engine.Database
	files   lab.Deps
}

func (c memoryCase) start(ctx context.Context, home string) (_ *memoryLab, err error) {
	machine, err := catalog.Machine()
	if err != nil {
		return nil, err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return nil, err
	}
	l := &memoryLab{memoryCase: c, engine: catalog.Products()[c.product].Engine}
	l.files = lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache}
	if l.work, err = c.make(l.engine); err != nil {
		return nil, err
	}
	if l.cluster, err = lab.Up(ctx, lab.Spec{Name: "memory", Product: c.product, Config: c.settings(2)}, l.files); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.stop())
		}
	}()
	if err := l.open(ctx, true); err != nil {
		return nil, err
	}
	if err := l.work.Prepare(ctx, l.db, func(int64, int64, string) {}); err != nil {
		return nil, err
	}
	if !l.writes() {
		return l, nil
	}
	return l, l.cluster.Save(ctx)
}

func (c memoryCase) make(e engine.Engine) (workload.Workload, error) {
	parameters, err := document.Parse("parameters", []byte(c.parameters))
	if err != nil {
		return nil, err
	}
	if text, err := memoryFiles.ReadFile("memory/" + c.workload + ".yaml"); !errors.Is(err, fs.ErrNotExist) {
		if c.wide {
			text = []byte(eightfold.Replace(string(text)))
		}
		maker, err := custom.Parse(c.workload+".yaml", text, time.Now)
		if err != nil {
			return nil, err
		}
		return maker.New(parameters, e)
	}
	return catalog.Workload(&document.Node{Kind: document.Scalar, Text: c.workload}, parameters, e)
}

// eightfold makes the rows of a file in memory eight times as wide.
var eightfold = strings.NewReplacer("VARCHAR(1000)", "VARCHAR(8000)", "text 950", "text 7600")

// writes tells whether the load changes the data, so that it has to be brought back before it is run again.
func (c memoryCase) writes() bool {
	return slices.Contains([]string{"inserts", "batch", "tpcc"}, c.workload)
}

func (l *memoryLab) open(ctx context.Context, first bool) error {
	if l.db != nil {
		_ = l.db.Close() // it was restarted
	}
	target, err := l.cluster.Target()
	if err != nil {
		return err
	}
	if first {
		db, err := l.engine.Open(ctx, target)
		if err != nil {
			return err
		}
		defer db.Close()
		if err := db.(engine.Namespaced).MakeNamespace(ctx, "memory"); err != nil {
			return err
		}
	}
	target.Namespace = "memory"
	l.db, err = l.engine.Open(ctx, target)
	return err
}

func (l *memoryLab) stop() error {
	var closed error
	if l.db != nil {
		closed = l.db.Close()
	}
	return errors.Join(closed, l.cluster.Down(context.Background()))
}

// resized starts the server anew with the data as it was made and another pool.
func (l *memoryLab) resized(ctx context.Context, times float64) error {
	if err := l.cluster.Reconfigure(ctx, l.settings(times)); err != nil {
		return err
	}
	if l.writes() {
		if err := l.cluster.Restore(ctx); err != nil {
			return err
		}
	}
	if err := l.open(ctx, false); err != nil {
		return err
	}
	if err := l.work.Adopt(ctx, l.db); err != nil {
		return err
	}
	return l.fill(ctx)
}

// fill reads all tables once, so that no room is left in the pool: reads would take minutes to fill a large one.
func (l *memoryLab) fill(ctx context.Context) error {
	s, err := l.db.Session(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	tables, err := s.(engine.Tabular).Table(ctx, "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()")
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := s.Exec(ctx, "SELECT COUNT(*) FROM "+t["name"]+" FORCE INDEX (PRIMARY)", nil); engine.ClassOf(err) == engine.Missing {
			err = s.Exec(ctx, "SELECT COUNT(*) FROM "+t["name"], nil) // it has no primary key
			if err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}
