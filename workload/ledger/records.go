package ledger

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/workload"
)

// records keeps a ledger by key. There a write that is applied twice is the same as once: duplicates cannot be, and are not
// looked for.
type records struct{ engine.RecordStatements }

var _ store = records{}

const recordTable = "plimsoll_ledger"

func newRecords(e engine.KeyValue) records { return records{e.RecordTable(recordTable, 1)} }

func (records) table() string { return recordTable }

func (s records) schema() (create, drop string) { return s.Create, s.Drop }

func (s records) texts() []string {
	return []string{insertText: s.Insert, overwriteText: s.Update(0), lookText: s.Read}
}

func (records) insert(args []engine.Value, s *scratch, run int64, r row, _ int64, text []byte) []engine.Value {
	return append(args, s.key(run, r), engine.Chars(text))
}

func (records) overwrite(args []engine.Value, s *scratch, run int64, r row, _ int64, text []byte) []engine.Value {
	return append(args, engine.Chars(text), s.key(run, r))
}

func (records) look(args []engine.Value, s *scratch, run int64, r row) []engine.Value {
	return append(args, s.key(run, r))
}

// key is a row's name as one text.
func (s *scratch) key(run int64, r row) engine.Value {
	*s = fmt.Appendf((*s)[:0], "%x-%d-%d", run, r.worker, r.number)
	return engine.Chars(*s)
}

// text is the field, which comes after the key.
func (records) text(r *engine.Result) []byte { return r.At(0, r.Columns-1).Data }

func (s records) auditing() (string, int64) { return s.Read, 100 }

func (s records) several(ctx context.Context, c *workload.Connection, run int64, worker int, from, to int64, each func(found)) error {
	r := engine.Result{Keep: true}
	var key scratch
	for number := from; number < to; number++ {
		if err := c.Exec(ctx, 0, s.look(nil, &key, run, row{worker, number}), &r); err != nil {
			return err
		}
		if r.Rows > 0 {
			each(found{number, 1, s.text(&r)})
		}
	}
	return nil
}
