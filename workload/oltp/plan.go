package oltp

import (
	"slices"

	"plimsoll/engine"
	"plimsoll/workload/random"
)

// plan is the composition of a workload's transaction.
type plan struct {
	name    string
	groups  []group
	trx     bool  // BEGIN before, COMMIT after
	retries int64 // of a transaction
	span    int64
}

// group is queries that are repeated on one table, which is drawn anew for each group of each transaction.
type group struct {
	times   int64
	queries []query
}

// query is a statement on one table, $table, and what fills its parameters.
type query struct {
	text string
	bind func(c *client) []engine.Value
}

// queries counts those of one transaction as a server does.
func (p plan) queries() int64 {
	n := int64(0)
	for _, g := range p.groups {
		n += g.times * int64(len(g.queries))
	}
	if p.trx && n > 0 {
		n += 2
	}
	return n
}

type (
	pointSelect    struct{ tables }
	insert         struct{ tables }
	updateIndex    struct{ tables }
	updateNonIndex struct{ tables }
	deletion       struct{ tables }

	readOnly struct {
		tables
		reads
		transaction
	}
	writeOnly struct {
		tables
		writes
		transaction
	}
	readWrite struct {
		tables
		reads
		writes
		transaction
	}
)

func (pointSelect) plan() plan { return single("oltp_point_select", pointSelectQuery) }
func (insert) plan() plan      { return single("oltp_insert", newRowQuery) }
func (updateIndex) plan() plan { return single("oltp_update_index", indexUpdateQuery) }
func (deletion) plan() plan    { return single("oltp_delete", deleteQuery) }
func (updateNonIndex) plan() plan {
	return single("oltp_update_non_index", nonIndexUpdateQuery)
}

func single(name string, q query) plan {
	return plan{name: name, groups: []group{{1, []query{q}}}}
}

func (k readOnly) plan() plan {
	return plan{name: "oltp_read_only", groups: k.reads.groups(), span: k.RangeSize, trx: !k.SkipTrx, retries: k.Retries}
}

func (k writeOnly) plan() plan {
	return plan{name: "oltp_write_only", groups: k.writes.groups(), trx: !k.SkipTrx, retries: k.Retries}
}

func (k readWrite) plan() plan {
	return plan{name: "oltp_read_write", groups: slices.Concat(k.reads.groups(), k.writes.groups()), span: k.RangeSize, trx: !k.SkipTrx, retries: k.Retries}
}

func (r reads) groups() []group {
	groups := []group{{r.PointSelects, []query{pointSelectQuery}}}
	if r.RangeSelects {
		groups = append(groups,
			group{r.SimpleRanges, []query{{"SELECT c FROM $table WHERE id BETWEEN ? AND ?", (*client).idRange}}},
			group{r.SumRanges, []query{{"SELECT SUM(k) FROM $table WHERE id BETWEEN ? AND ?", (*client).idRange}}},
			group{r.OrderRanges, []query{{"SELECT c FROM $table WHERE id BETWEEN ? AND ? ORDER BY c", (*client).idRange}}},
			group{r.DistinctRanges, []query{{"SELECT DISTINCT c FROM $table WHERE id BETWEEN ? AND ? ORDER BY c", (*client).idRange}}},
		)
	}
	return wanted(groups)
}

func (w writes) groups() []group {
	return wanted([]group{
		{w.IndexUpdates, []query{indexUpdateQuery}},
		{w.NonIndexUpdates, []query{nonIndexUpdateQuery}},
		{w.DeleteInserts, []query{deleteQuery, {insertText, (*client).deletedRow}}},
	})
}

// wanted leaves out what is never run, so that it is not prepared either.
func wanted(groups []group) []group {
	return slices.DeleteFunc(groups, func(g group) bool { return g.times == 0 })
}

const insertText = "INSERT INTO $table (id, k, c, pad) VALUES (?, ?, ?, ?)"

var (
	pointSelectQuery    = query{"SELECT c FROM $table WHERE id=?", (*client).anyID}
	indexUpdateQuery    = query{"UPDATE $table SET k=k+1 WHERE id=?", (*client).anyID}
	nonIndexUpdateQuery = query{"UPDATE $table SET c=? WHERE id=?", (*client).newText}
	deleteQuery         = query{"DELETE FROM $table WHERE id=?", (*client).anyID}
	newRowQuery         = query{insertText, (*client).newRow}
)

// anyID binds a row that is there, most likely.
func (c *client) anyID() []engine.Value {
	c.id = c.row()
	c.args[0] = engine.Int(c.id)
	return c.args[:1]
}

func (c *client) idRange() []engine.Value {
	from := c.row()
	c.args[0], c.args[1] = engine.Int(from), engine.Int(from+c.span-1)
	return c.args[:2]
}

func (c *client) newText() []engine.Value {
	c.text = random.AppendPattern(c.text[:0], patternC, c.r)
	c.args[0], c.args[1] = engine.Chars(c.text), engine.Int(c.row())
	return c.args[:2]
}

// deletedRow binds a row in the place of the one that was deleted last.
func (c *client) deletedRow() []engine.Value { return c.values(c.id) }

// newRow binds a row whose key the database gives it: 0 asks for the next of an AUTO_INCREMENT column.
func (c *client) newRow() []engine.Value { return c.values(0) }

func (c *client) values(id int64) []engine.Value {
	c.args[0], c.args[1] = engine.Int(id), engine.Int(c.row())
	c.text = random.AppendPattern(c.text[:0], patternC, c.r)
	c.text = random.AppendPattern(c.text, patternPad, c.r)
	c.args[2], c.args[3] = engine.Chars(c.text[:len(patternC)]), engine.Chars(c.text[len(patternC):])
	return c.args[:4]
}
