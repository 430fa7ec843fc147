// Package oltp holds the workloads of sysbench 1.0's oltp family: the same tables, statements, transactions and random
// distributions, on data of its own or on what sysbench prepared.
package oltp

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// Makers lists the family.
func Makers() []workload.Maker {
	t, r, w := defaultTables(), defaultReads(), defaultWrites()
	return []workload.Maker{
		workload.Make("oltp_point_select", "SELECT of a row by its key", pointSelect{t}, build),
		workload.Make("oltp_read_only", "transaction of 10 point selects and 4 range selects", readOnly{tables: t, reads: r}, build),
		workload.Make("oltp_read_write", "transaction of 14 selects, 2 updates, a delete and an insert", readWrite{tables: t, reads: r, writes: w}, build),
		workload.Make("oltp_write_only", "transaction of 2 updates, a delete and an insert", writeOnly{tables: t, writes: w}, build),
		workload.Make("oltp_insert", "INSERT of a new row", insert{t}, build),
		workload.Make("oltp_update_index", "UPDATE of an indexed column", updateIndex{t}, build),
		workload.Make("oltp_update_non_index", "UPDATE of a column without index", updateNonIndex{t}, build),
		workload.Make("oltp_delete", "DELETE of a row by its key", deletion{t}, build),
	}
}

// oltp is one workload of the family.
type oltp struct {
	plan
	tables
	given *document.Node // to tell what was asked for from what is a default
}

var (
	_ workload.Workload = (*oltp)(nil)
	_ workload.Tables   = (*oltp)(nil)
	_ workload.Reading  = (*oltp)(nil)
)

// kind is the parameters of one workload.
type kind interface {
	plan() plan
	data() tables
}

func build[K kind](k K, given *document.Node, e engine.Engine) (workload.Workload, error) {
	w := &oltp{plan: k.plan(), tables: k.data(), given: given}
	if err := workload.NeedSQL(w.name, given, e); err != nil {
		return nil, err
	}
	if w.queries() == 0 {
		return nil, document.Problems{given.Errorf("a transaction of %s would contain no query", w.name)}
	}
	return w, nil
}

func (w *oltp) Name() string                   { return w.name }
func (w *oltp) Operations() []string           { return []string{strings.TrimPrefix(w.name, "oltp_")} }
func (w *oltp) QueriesPerOperation() []float64 { return []float64{float64(w.queries())} }

// ReadOnly implements workload.Reading.
func (w *oltp) ReadOnly() []bool { return []bool{workload.OnlyReads(w.texts(1)...)} }

// Prepare implements workload.Workload. The data depends on the parameters alone.
func (w *oltp) Prepare(ctx context.Context, db engine.Database, p workload.Progress) error {
	return w.dataSet(w.Tables).Prepare(ctx, db, p)
}

// DataBytes implements workload.Tables.
func (w *oltp) DataBytes() int64 { return w.dataSet(w.Tables).Bytes() }

// Adopt takes what was not asked for from what is there: the number of tables, and the smallest of their highest ids.
func (w *oltp) Adopt(ctx context.Context, db engine.Database) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	found, err := count(ctx, session)
	if err != nil {
		return err
	}
	if w.given.Get("tables") == nil && found > 0 {
		w.Tables = found
	}
	if found < w.Tables {
		return &workload.AbsentError{What: "there is no table " + table(found+1)}
	}
	if w.given.Get("table_size") != nil {
		return nil
	}
	var smallest int64
	for n := int64(1); n <= w.Tables; n++ {
		highest, err := highest(ctx, session, n)
		if err != nil {
			return err
		}
		if n == 1 || highest < smallest {
			smallest = highest
		}
	}
	w.TableSize = smallest
	return nil
}

// count returns how many tables there are, sbtest1 and up.
func count(ctx context.Context, session engine.Session) (int64, error) {
	for n := int64(0); ; n++ {
		there, err := workload.Exists(ctx, session, table(n+1))
		if err != nil || !there {
			return n, err
		}
	}
}

func highest(ctx context.Context, session engine.Session, n int64) (int64, error) {
	r := engine.Result{Keep: true}
	if err := session.Exec(ctx, "SELECT MAX(id) FROM "+table(n), &r); err != nil {
		return 0, fmt.Errorf("size of %s: %w", table(n), err)
	}
	if r.Rows == 0 || r.At(0, 0).Int < 1 {
		return 0, &workload.AbsentError{What: "table " + table(n) + " is empty"}
	}
	return r.At(0, 0).Int, nil
}

// Cleanup drops the tables asked for, or all that are there.
func (w *oltp) Cleanup(ctx context.Context, db engine.Database) error {
	n := w.Tables
	if w.given.Get("tables") == nil {
		session, err := db.Session(ctx)
		if err != nil {
			return err
		}
		defer session.Close()
		if n, err = count(ctx, session); err != nil {
			return err
		}
	}
	return w.dataSet(n).Cleanup(ctx, db)
}

// Divide implements workload.Tables: what the operations share stands in the database.
func (*oltp) Divide(workload.Part) {}

// Connect implements workload.Workload.
func (w *oltp) Connect(db engine.Database, seed uint64) load.Connect {
	texts := w.texts(w.Tables)
	return func(ctx context.Context, worker int) (load.Client, error) {
		c, err := workload.Dial(ctx, db, texts)
		if err != nil {
			return nil, err
		}
		return &client{Connection: c, plan: w.plan, tables: w.tables, r: random.New(seed, uint64(worker)), ids: w.distribution()}, nil
	}
}
