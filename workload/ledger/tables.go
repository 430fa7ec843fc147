package ledger

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/workload"
)

// tables keeps a ledger in SQL. A write that is applied twice, by whoever sends or replays it again, is counted in its row.
type tables struct {
	name   string
	again  string // ends an insert of a row that is there already
	length int64
}

var _ store = tables{}

func newTables(e engine.Relational, length int64) tables {
	name := e.Quote("plimsoll_ledger")
	return tables{name: name, again: e.OrCount(name, "copies", "run", "worker", "number"), length: length}
}

func (t tables) table() string { return t.name }

// beside is how many characters a version and a checksum take with their spaces.
const beside = 32

func (t tables) schema() (create, drop string) {
	return fmt.Sprintf("CREATE TABLE %s (run BIGINT NOT NULL, worker INT NOT NULL, number BIGINT NOT NULL, version BIGINT NOT NULL, "+
		"copies INT NOT NULL, content VARCHAR(%d) NOT NULL, PRIMARY KEY (run, worker, number))", t.name, t.length+beside), "DROP TABLE IF EXISTS " + t.name
}

func (t tables) texts() []string {
	const its = " WHERE run = ? AND worker = ? AND number = ?"
	return []string{
		insertText: "INSERT INTO " + t.name + " (run, worker, number, version, copies, content) VALUES (?, ?, ?, ?, 1, ?) " + t.again,
		// A version that is late, of a client that gave it up, does not replace a later one.
		overwriteText: "UPDATE " + t.name + " SET version = ?, content = ?" + its + " AND version < ?",
		lookText:      "SELECT content FROM " + t.name + its,
	}
}

func (tables) insert(args []engine.Value, _ *scratch, run int64, r row, version int64, text []byte) []engine.Value {
	return append(name(args, run, r), engine.Int(version), engine.Chars(text))
}

func (tables) overwrite(args []engine.Value, _ *scratch, run int64, r row, version int64, text []byte) []engine.Value {
	return append(name(append(args, engine.Int(version), engine.Chars(text)), run, r), engine.Int(version))
}

func (tables) look(args []engine.Value, _ *scratch, run int64, r row) []engine.Value {
	return name(args, run, r)
}

func name(args []engine.Value, run int64, r row) []engine.Value {
	return append(args, engine.Int(run), engine.Int(int64(r.worker)), engine.Int(r.number))
}

func (tables) text(r *engine.Result) []byte { return r.At(0, 0).Data }

func (t tables) auditing() (string, int64) {
	return "SELECT number, copies, content FROM " + t.name + " WHERE run = ? AND worker = ? AND number >= ? AND number < ? ORDER BY number", 1000
}

func (t tables) several(ctx context.Context, c *workload.Connection, run int64, worker int, from, to int64, each func(found)) error {
	r := engine.Result{Keep: true}
	args := []engine.Value{engine.Int(run), engine.Int(int64(worker)), engine.Int(from), engine.Int(to)}
	if err := c.Exec(ctx, 0, args, &r); err != nil {
		return err
	}
	for i := range r.Rows {
		each(found{r.At(i, 0).Int, r.At(i, 1).Int, r.At(i, 2).Data})
	}
	return nil
}
