// Package ledger is a workload that knows what must be there: it keeps a record of every write that the database
// acknowledged, with a checksum and the time, and holds the database to it, while it runs by reads, and at the end by an
// audit. It runs on any engine that speaks SQL or keeps records by key.
//
// A write is a row of its own, never written again: what is lost cannot be hidden by what came later. Each worker has one
// row beside those, its register, which it overwrites with ever higher versions: a read that sees a lower one than was
// acknowledged before is stale.
package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// Name is how a load asks for it.
const Name = "ledger"

// Makers lists the workload.
func Makers() []workload.Maker {
	return []workload.Maker{
		workload.Make(Name, "keeps a ledger of its writes and counts lost, duplicated, stale and corrupt ones",
			parameters{Reads: 10, Updates: 10, Length: 100}, build),
	}
}

type parameters struct {
	Reads   float64 `yaml:"reads" min:"0" max:"90" doc:"percentage of the operations that read acknowledged writes, mostly recent ones, and check them"`
	Updates float64 `yaml:"updates" min:"0" max:"90" doc:"percentage that overwrite a row with a higher version, which reveals stale reads; the rest add a row"`
	Length  int64   `yaml:"length" min:"1" max:"8000" doc:"characters of a row besides its checksum"`
}

// ledger is the workload.
type ledger struct {
	parameters
	store store
	book  *book
}

var (
	_ workload.Workload = (*ledger)(nil)
	_ workload.Audited  = (*ledger)(nil)
)

func build(p parameters, given *document.Node, e engine.Engine) (workload.Workload, error) {
	if p.Reads+p.Updates > 95 {
		at := given
		if n := given.Get("updates"); n != nil {
			at = n
		}
		return nil, document.Problems{at.Errorf("reads and updates are %v %% of the operations, expected at most 95, because the rest are writes", p.Reads+p.Updates)}
	}
	w := &ledger{parameters: p}
	switch e := e.(type) {
	case engine.Relational:
		w.store = newTables(e, p.Length)
	case engine.KeyValue:
		w.store = newRecords(e)
	default:
		return nil, document.Problems{given.Errorf("%s needs an engine that speaks SQL or keeps records by key", Name)}
	}
	return w, nil
}

func (w *ledger) Name() string { return Name }

// The operations, by index. Those that have no share are not listed.
const (
	write = iota
	update
	read
)

var operations = []string{write: "write", update: "update", read: "read"}

func (w *ledger) shares() []float64 {
	return []float64{write: 100 - w.Reads - w.Updates, update: w.Updates, read: w.Reads}
}

// kinds are the operations that have a share.
func (w *ledger) kinds() (kinds []int, weights []float64) {
	for kind, share := range w.shares() {
		if share > 0 {
			kinds, weights = append(kinds, kind), append(weights, share)
		}
	}
	return kinds, weights
}

func (w *ledger) Operations() []string {
	var names []string
	kinds, _ := w.kinds()
	for _, kind := range kinds {
		names = append(names, operations[kind])
	}
	return names
}

// QueriesPerOperation is one for each.
func (w *ledger) QueriesPerOperation() []float64 {
	kinds, queries := w.kinds()
	for i := range kinds {
		queries[i] = 1
	}
	return queries
}

// Prepare makes the table, empty.
func (w *ledger) Prepare(ctx context.Context, db engine.Database, p workload.Progress) error {
	return w.dataSet().Prepare(ctx, db, p)
}

// Adopt begins a new ledger. What earlier ones wrote stays, and is none of its business.
func (w *ledger) Adopt(ctx context.Context, db engine.Database) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	there, err := workload.Exists(ctx, session, w.store.table())
	if err != nil {
		return err
	}
	if !there {
		return &workload.AbsentError{What: "there is no table " + w.store.table()}
	}
	w.book = newBook(rand.Int64N(1 << 32))
	return nil
}

// Cleanup drops the table.
func (w *ledger) Cleanup(ctx context.Context, db engine.Database) error {
	return w.dataSet().Cleanup(ctx, db)
}

func (w *ledger) dataSet() workload.DataSet {
	create, drop := w.store.schema()
	return workload.DataSet{
		Tables: []string{w.store.table()}, Create: []string{create}, Drop: func(string) string { return drop },
	}
}

// Connect makes the register of a worker, if there are updates, and its client. The ledger goes on for a worker that comes
// back.
func (w *ledger) Connect(db engine.Database, seed uint64) load.Connect {
	kinds, weights := w.kinds()
	return func(ctx context.Context, worker int) (load.Client, error) {
		connection, err := workload.Dial(ctx, db, w.store.texts())
		if err != nil {
			return nil, err
		}
		c := &client{
			Connection: connection, of: w, account: w.book.account(worker), kinds: kinds, weights: random.NewWeights(weights),
			r: random.New(seed, uint64(worker)),
		}
		if w.Updates > 0 {
			if err := c.found(ctx); err != nil {
				_ = connection.Close() // it is of no use
				return nil, fmt.Errorf("make the register of worker %d: %w", worker, err)
			}
		}
		return c, nil
	}
}
