// Package custom is the workload that a person writes in a YAML file: tables with a generator for each column, and weighted
// operations of one or more statements with parameters. docs/workloads.md describes the file.
package custom

import (
	"context"
	"fmt"
	"os"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// ReadFile reads a workload file.
func ReadFile(path string) (workload.Maker, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		advice := "correct the path; a name without .yaml, such as oltp_read_write, is a workload that ships"
		if near := document.NearestPath(path); near != "" {
			advice = fmt.Sprintf("did you mean %q?", near)
		}
		return workload.Maker{}, hint.Missing(fmt.Errorf("read the workload: %w", err), advice)
	}
	return Parse(path, data, time.Now)
}

// Parse reads the text of a workload file, whose name stands in messages. now is what times relative to now refer to.
func Parse(file string, data []byte, now func() time.Time) (workload.Maker, error) {
	root, err := document.Parse(file, data)
	if err != nil {
		return workload.Maker{}, err
	}
	if err := document.OtherKind(root, "workload"); err != nil {
		return workload.Maker{}, err
	}
	var head heading
	if err := root.Decode(&head); err != nil {
		return workload.Maker{}, err
	}
	// Everything is checked now, as far as it does not depend on the engine and the parameters.
	if _, err := read(root, now); err != nil {
		return workload.Maker{}, err
	}
	return workload.Make(head.Workload, head.About, parameters{Scale: 1},
		func(p parameters, given *document.Node, e engine.Engine) (workload.Workload, error) {
			w, err := read(root, now)
			if err != nil {
				return nil, err
			}
			return w, w.suit(p, given, e)
		}), nil
}

// heading is the file's outermost keys.
type heading struct {
	Workload   string         `yaml:"workload,required" doc:"its name"`
	About      string         `yaml:"about" doc:"a one-line description"`
	Tables     *document.Node `yaml:"tables" doc:"the tables, by name; without tables the operations use existing ones"`
	Operations *document.Node `yaml:"operations,required" doc:"the operations, by name"`
}

// parameters are what a load may set.
type parameters struct {
	Scale   float64            `yaml:"scale" min:"0.000001" doc:"factor for the rows of all tables"`
	Rows    map[string]int64   `yaml:"rows" doc:"numbers of rows by table, overriding the file"`
	Weights map[string]float64 `yaml:"weights" doc:"weights by operation, overriding the file; 0 leaves one out"`
}

// mostRows is what a table may have.
const mostRows = 1e12

// custom is a workload of a file.
type custom struct {
	name       string
	tables     []*table
	operations []*operation
	engine     engine.Engine
	given      *document.Node
	part       workload.Part
}

var (
	_ workload.Workload = (*custom)(nil)
	_ workload.Tables   = (*custom)(nil)
	_ workload.Reading  = (*custom)(nil)
)

// read makes the workload of a file.
func read(root *document.Node, now func() time.Time) (*custom, error) {
	w := &custom{name: root.Get("workload").Text}
	var ps document.Problems
	w.tables = readTables(root.Get("tables"), now, &ps)
	w.operations = readOperations(root.Get("operations"), w.tables, now, &ps)
	return w, ps.Err()
}

// suit fits the workload to an engine and what a load asks of it.
func (w *custom) suit(p parameters, given *document.Node, e engine.Engine) error {
	var ps document.Problems
	w.engine, w.given = e, given
	for _, t := range w.tables {
		if t.rows > 0 {
			t.rows = int64(min(max(float64(t.rows)*p.Scale+0.5, 1), mostRows+1))
		}
		ps.Add(t.at, t.suit(e))
	}
	ps.Add(given, w.setRows(given.Get("rows"), p.Rows))
	ps.Add(given, w.setWeights(given.Get("weights"), p.Weights))
	for _, t := range w.tables {
		t.keys = workload.NewKeys(t.rows)
		if t.rows > mostRows {
			ps.Add(t.at, t.at.Errorf("more rows of %s than %d", t.name, int64(mostRows)))
		}
		if t.picked != nil && t.rows == 0 {
			ps.Add(t.at, t.picked.Errorf("rows of %s are picked here, but it has none", t.name))
		}
	}
	for _, o := range w.operations {
		ps.Add(o.at, o.suit(e))
	}
	return ps.Err()
}

func (w *custom) setRows(n *document.Node, rows map[string]int64) error {
	var ps document.Problems
	if n == nil {
		return nil
	}
	for _, e := range n.Entries {
		t := tableOf(w.tables, e.Key)
		switch {
		case t == nil:
			ps.Add(e.At, document.UnknownKey(e, tableNames(w.tables)))
		case rows[e.Key] < 0:
			ps.Add(e.Value, e.Value.Errorf("%d rows", rows[e.Key]))
		default:
			t.rows, t.asked = rows[e.Key], e.Value
		}
	}
	return ps.Err()
}

func (w *custom) setWeights(n *document.Node, weights map[string]float64) error {
	var ps document.Problems
	if n != nil {
		for _, e := range n.Entries {
			var found *operation
			for _, o := range w.operations {
				if o.name == e.Key {
					found = o
				}
			}
			switch {
			case found == nil:
				ps.Add(e.At, document.UnknownKey(e, w.Operations()))
			case weights[e.Key] < 0:
				ps.Add(e.Value, e.Value.Errorf("a weight of %v, expected at least 0", weights[e.Key]))
			default:
				found.weight = weights[e.Key]
			}
		}
	}
	sum := 0.0
	for _, o := range w.operations {
		sum += o.weight
	}
	if sum == 0 {
		ps.Add(n, w.operations[0].at.Errorf("no operation has a weight above 0"))
	}
	return ps.Err()
}

func (w *custom) Name() string { return w.name }

// ReadOnly implements workload.Reading, by what the statements say. It is for engines that speak SQL; no other has replicas.
func (w *custom) ReadOnly() []bool {
	reads := make([]bool, len(w.operations))
	for i, o := range w.operations {
		var texts []string
		for _, s := range o.statements {
			texts = append(texts, s.text)
		}
		reads[i] = workload.OnlyReads(texts...)
	}
	return reads
}

func (w *custom) Operations() []string {
	names := make([]string, len(w.operations))
	for i, o := range w.operations {
		names[i] = o.name
	}
	return names
}

func (w *custom) QueriesPerOperation() []float64 {
	queries := make([]float64, len(w.operations))
	for i, o := range w.operations {
		queries[i] = float64(len(o.statements))
		if o.transaction {
			queries[i] += 2
		}
	}
	return queries
}

// Prepare implements workload.Workload. The data depends on the file and the parameters alone, but for times relative to now.
func (w *custom) Prepare(ctx context.Context, db engine.Database, p workload.Progress) error {
	for _, t := range w.tables {
		t.keys = w.part.Keys(workload.Present{Whole: t.rows, Next: t.rows})
	}
	return w.dataSet().Prepare(ctx, db, p)
}

// DataBytes implements workload.Tables.
func (w *custom) DataBytes() int64 { return w.dataSet().Bytes() }

// Cleanup implements workload.Workload.
func (w *custom) Cleanup(ctx context.Context, db engine.Database) error {
	return w.dataSet().Cleanup(ctx, db)
}

// Adopt finds out how many rows the tables with a sequence have.
func (w *custom) Adopt(ctx context.Context, db engine.Database) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, t := range w.tables {
		if err := t.adopt(ctx, session, w.part); err != nil {
			return err
		}
	}
	return nil
}

// Divide implements workload.Tables: each part adds rows of its own numbers, and picks only those beside what was there.
func (w *custom) Divide(p workload.Part) { w.part = p }

// Connect implements workload.Workload.
func (w *custom) Connect(db engine.Database, seed uint64) load.Connect {
	var texts []string
	weights := make([]float64, len(w.operations))
	for i, o := range w.operations {
		weights[i] = o.weight
		for _, s := range o.statements {
			texts = append(texts, s.text)
		}
	}
	return func(ctx context.Context, worker int) (load.Client, error) {
		c, err := workload.Dial(ctx, db, texts)
		if err != nil {
			return nil, err
		}
		return newClient(c, w.operations, random.NewWeights(weights), random.New(seed, uint64(worker))), nil
	}
}
