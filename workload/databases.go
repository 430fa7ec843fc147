package workload

import (
	"context"
	"errors"
	"slices"
	"sync"

	"plimsoll/engine"
)

// databases are servers by their names, each opened when it is first asked for.
type databases struct {
	dial func(ctx context.Context, node string) (engine.Database, error)

	mu   sync.Mutex
	open map[string]engine.Database
}

func newDatabases(dial func(ctx context.Context, node string) (engine.Database, error)) *databases {
	return &databases{dial: dial, open: map[string]engine.Database{}}
}

func (d *databases) get(ctx context.Context, node string) (engine.Database, error) {
	d.mu.Lock()
	db := d.open[node]
	d.mu.Unlock()
	if db != nil {
		return db, nil
	}
	db, err := d.dial(ctx, node)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if other := d.open[node]; other != nil { // somebody was faster
		return other, db.Close()
	}
	d.open[node] = db
	return db, nil
}

// keep closes all but some.
func (d *databases) keep(nodes []string) error {
	var gone []engine.Database
	d.mu.Lock()
	for node, db := range d.open {
		if !slices.Contains(nodes, node) {
			gone = append(gone, db)
			delete(d.open, node)
		}
	}
	d.mu.Unlock()
	var all error
	for _, db := range gone { // which may take a server's time
		all = errors.Join(all, db.Close())
	}
	return all
}
