// Package ycsb holds the workloads of the Yahoo! Cloud Serving Benchmark (Cooper et al., SoCC 2010), a to f, and kv, the
// same with a mix of one's own. They run on any engine that keeps records by key.
package ycsb

import (
	"context"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// Makers lists the family.
func Makers() []workload.Maker {
	zipfian, latest := defaults("zipfian"), defaults("latest")
	return []workload.Maker{
		maker("ycsb-a", "update heavy: 50 % reads, 50 % updates", core{zipfian, mix{{read, 50}, {update, 50}}}),
		maker("ycsb-b", "read mostly: 95 % reads, 5 % updates", core{zipfian, mix{{read, 95}, {update, 5}}}),
		maker("ycsb-c", "read only", core{zipfian, mix{{read, 100}}}),
		maker("ycsb-d", "read latest: 95 % reads of new records, 5 % inserts", core{latest, mix{{read, 95}, {insert, 5}}}),
		maker("ycsb-e", "short ranges: 95 % scans, 5 % inserts", scanning{zipfian, defaultScans()}),
		maker("ycsb-f", "read-modify-write: 50 % reads, 50 % reads with an update", core{zipfian, mix{{read, 50}, {readModifyWrite, 50}}}),
		maker("kv", "reads, updates, inserts, scans in a mix of your own", kv{records: zipfian, scans: defaultScans()}),
	}
}

// parameters are those of one workload.
type parameters interface {
	data() records
	plan(given *document.Node) (m mix, longestScan int64, err error)
}

func maker[P parameters](name, summary string, defaults P) workload.Maker {
	return workload.Make(name, summary, defaults, func(p P, given *document.Node, e engine.Engine) (workload.Workload, error) {
		return build(name, p, given, e)
	})
}

// mix is the operations of a workload, with their weights.
type mix []struct {
	kind
	weight float64
}

func (m mix) has(k kind) bool {
	for _, o := range m {
		if o.kind == k {
			return true
		}
	}
	return false
}

// kind is a kind of operation.
type kind int

const (
	read kind = iota
	update
	insert
	scan
	readModifyWrite
)

func (k kind) String() string {
	return [...]string{"read", "update", "insert", "scan", "read_modify_write"}[k]
}

// ycsb is one workload.
type ycsb struct {
	records
	name    string
	mix     mix
	longest int64 // scan
	texts   engine.RecordStatements
	given   *document.Node // to tell what was asked for from what is a default
	keys    *workload.Keys // of the data, as Prepare made or Adopt found it
	part    workload.Part
}

var (
	_ workload.Workload = (*ycsb)(nil)
	_ workload.Tables   = (*ycsb)(nil)
	_ workload.Reading  = (*ycsb)(nil)
)

const table = "usertable"

func build(name string, p parameters, given *document.Node, e engine.Engine) (workload.Workload, error) {
	keeper, ok := e.(engine.KeyValue)
	if !ok {
		return nil, document.Problems{given.Errorf("%s needs an engine that keeps records by key, %s does not", name, e.Name())}
	}
	m, longest, err := p.plan(given)
	if err != nil {
		return nil, err
	}
	r := p.data()
	return &ycsb{
		records: r, name: name, mix: m, longest: longest, given: given,
		texts: keeper.RecordTable(table, int(r.Fields)), keys: workload.NewKeys(r.Records),
	}, nil
}

func (w *ycsb) Name() string { return w.name }

func (w *ycsb) Operations() []string {
	var names []string
	for _, o := range w.mix {
		names = append(names, o.kind.String())
	}
	return names
}

// ReadOnly implements workload.Reading. A replica that is behind lacks the newest records: reads of these fail as missing.
func (w *ycsb) ReadOnly() []bool {
	reads := make([]bool, len(w.mix))
	for i, o := range w.mix {
		reads[i] = o.kind == read || o.kind == scan
	}
	return reads
}

func (w *ycsb) QueriesPerOperation() []float64 {
	var queries []float64
	for _, o := range w.mix {
		n := 1.0
		if o.kind == readModifyWrite {
			n = 2
		}
		queries = append(queries, n)
	}
	return queries
}

// Prepare implements workload.Workload. The data depends on the parameters alone.
func (w *ycsb) Prepare(ctx context.Context, db engine.Database, p workload.Progress) error {
	w.keys = w.part.Keys(workload.Present{Whole: w.Records, Next: w.Records})
	return w.dataSet().Prepare(ctx, db, p)
}

// DataBytes implements workload.Tables, by some records: all have the same fields.
func (w *ycsb) DataBytes() int64 {
	few := *w
	few.Records = min(w.Records, 1000)
	return few.dataSet().Bytes() * (w.Records / few.Records)
}

// Cleanup implements workload.Workload.
func (w *ycsb) Cleanup(ctx context.Context, db engine.Database) error {
	return w.dataSet().Cleanup(ctx, db)
}

// Divide implements workload.Tables: each part adds records of its own numbers, and picks only those beside what was there.
func (w *ycsb) Divide(p workload.Part) { w.part = p }

// Connect implements workload.Workload.
func (w *ycsb) Connect(db engine.Database, seed uint64) load.Connect {
	weights := make([]float64, len(w.mix))
	for i, o := range w.mix {
		weights[i] = o.weight
	}
	texts, span := w.statements(), w.span()
	return func(ctx context.Context, worker int) (load.Client, error) {
		c, err := workload.Dial(ctx, db, texts)
		if err != nil {
			return nil, err
		}
		return &client{
			Connection: c, of: w, weights: random.NewWeights(weights), r: random.New(seed, uint64(worker)),
			choice: w.distribution(), span: span, args: make([]engine.Value, w.Fields+1),
		}, nil
	}
}
