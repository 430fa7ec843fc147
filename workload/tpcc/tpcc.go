// Package tpcc is TPC-C (standard specification, revision 5.11): nine tables and five transactions of a wholesale supplier,
// without keying and think times, so that the load alone sets the pace.
package tpcc

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// Makers lists tpcc.
func Makers() []workload.Maker {
	return []workload.Maker{workload.Make("tpcc", "TPC-C: five transactions of a wholesale supplier, on scale warehouses", defaults(), build)}
}

type parameters struct {
	Scale       int64 `yaml:"scale" min:"1" max:"100000" doc:"warehouses, about 100 MB each"`
	Items       int64 `yaml:"items" min:"100" max:"100000" doc:"items on offer, 100000 in TPC-C; fewer make a small data set for a demonstration"`
	Customers   int64 `yaml:"customers" min:"10" max:"3000" doc:"customers of each of a warehouse's ten districts, and orders there at the start; 3000 in TPC-C"`
	ForeignKeys bool  `yaml:"foreign_keys" doc:"constraints between the tables"`
	Retries     int64 `yaml:"retries" min:"0" max:"100" doc:"how often a deadlocked transaction is retried within the same operation; 0 counts it as an error"`
}

func defaults() parameters { return parameters{Scale: 1, Items: 100_000, Customers: 3000} }

type tpcc struct {
	parameters
	given *document.Node // to tell what was asked for from what is a default
}

var (
	_ workload.Workload = (*tpcc)(nil)
	_ workload.Reading  = (*tpcc)(nil)
	_ workload.Checker  = (*tpcc)(nil)
	_ workload.Tables   = (*tpcc)(nil)
)

func build(p parameters, given *document.Node, e engine.Engine) (workload.Workload, error) {
	if err := workload.NeedSQL("tpcc", given, e); err != nil {
		return nil, err
	}
	return &tpcc{p, given}, nil
}

func (w *tpcc) Name() string { return "tpcc" }

// The operations, in the order of their indexes, with their share of the mix in percent (clause 5.2.3) and their mean
// number of queries, BEGIN and COMMIT among them.
var operations = []struct {
	name    string
	share   float64
	queries float64
	reads   bool // only
	do      func(*client, context.Context) error
}{
	{"new_order", 45, 7 + 10*4 - 0.01*3, false, (*client).newOrder},
	{"payment", 43, 9 + 0.6 + 0.1, false, (*client).payment},
	{"order_status", 4, 5 + 0.6, true, (*client).orderStatus},
	{"delivery", 4, 2 + 10*7, false, (*client).delivery},
	{"stock_level", 4, 4, true, (*client).stockLevel},
}

func (w *tpcc) Operations() []string {
	var names []string
	for _, o := range operations {
		names = append(names, o.name)
	}
	return names
}

// ReadOnly implements workload.Reading: two of the transactions of TPC-C only read (clauses 2.6 and 2.8).
func (w *tpcc) ReadOnly() []bool {
	reads := make([]bool, len(operations))
	for i, o := range operations {
		reads[i] = o.reads
	}
	return reads
}

func (w *tpcc) QueriesPerOperation() []float64 {
	var queries []float64
	for _, o := range operations {
		queries = append(queries, o.queries)
	}
	return queries
}

// Prepare implements workload.Workload. The data depends on the parameters alone.
func (w *tpcc) Prepare(ctx context.Context, db engine.Database, p workload.Progress) error {
	return w.dataSet().Prepare(ctx, db, p)
}

// DataBytes implements workload.Tables.
func (w *tpcc) DataBytes() int64 { return w.dataSet().Bytes() }

// Cleanup implements workload.Workload.
func (w *tpcc) Cleanup(ctx context.Context, db engine.Database) error {
	return w.dataSet().Cleanup(ctx, db)
}

// Adopt takes the size of the data from what is there.
func (w *tpcc) Adopt(ctx context.Context, db engine.Database) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, table := range tables {
		there, err := workload.Exists(ctx, session, table)
		if err != nil {
			return err
		}
		if !there {
			return &workload.AbsentError{What: "there is no table " + table}
		}
	}
	for _, size := range []struct {
		name, of string
		value    *int64
	}{
		{"scale", "MAX(w_id) FROM warehouse", &w.Scale},
		{"items", "MAX(i_id) FROM item", &w.Items},
		{"customers", "MAX(c_id) FROM customer WHERE c_w_id = 1 AND c_d_id = 1", &w.Customers},
	} {
		r := engine.Result{Keep: true}
		if err := session.Exec(ctx, "SELECT "+size.of, &r); err != nil {
			return fmt.Errorf("find the %s: %w", size.name, err)
		}
		if r.Rows == 0 || r.At(0, 0).Int < 1 {
			return &workload.AbsentError{What: "the data of tpcc is incomplete: no " + size.name}
		}
		found := r.At(0, 0).Int
		asked := w.given.Get(size.name)
		switch {
		case asked == nil || *size.value == found:
			*size.value = found
		case size.name == "scale" && *size.value < found: // some of the warehouses
		default:
			return document.Problems{asked.Errorf("%s %d, but the data has %d", size.name, *size.value, found).
				WithHint("leave it out to use the existing data")}
		}
	}
	return nil
}

// Divide implements workload.Tables: what the transactions share stands in the database.
func (*tpcc) Divide(workload.Part) {}

// Connect implements workload.Workload.
func (w *tpcc) Connect(db engine.Database, seed uint64) load.Connect {
	constants := drawConstants(random.New(seed, 1<<63)) // one draw for all workers
	mix := make([]float64, len(operations))
	for i, o := range operations {
		mix[i] = o.share
	}
	return func(ctx context.Context, worker int) (load.Client, error) {
		c, err := workload.Dial(ctx, db, statements())
		if err != nil {
			return nil, err
		}
		return newClient(c, w.parameters, constants, random.NewWeights(mix), random.New(seed, uint64(worker))), nil
	}
}
