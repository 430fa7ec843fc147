package channel

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// comparison compares the rows of a replica with those of its source while both go on.
//
// A range of rows is digested on the source; when the replica has what the source had then, it is digested there. Rows that
// differ may have been changed meanwhile: they are looked at again, one by one, and those that still differ once more while
// the source holds them. So what is reported differs for certain, and writers wait only for the last rows in doubt.
type comparison struct {
	source, replica *server
	by              admin.Channel // the channel from source to replica
	chunk           int           // rows
	hold            time.Duration // the longest that the source may hold rows until the replica has come up to them
	result          outcome
	tell            func(rows int64)
}

// outcome is what a comparison found.
type outcome struct {
	tables, chunks int
	rows           int64
	differences    []difference
}

// difference is rows, or a table, that are not alike.
type difference struct {
	table, where string
	rows         int64 // 0: it is about the table itself
}

func (d difference) String() string {
	if d.rows == 0 {
		return d.table + ": " + d.where
	}
	return fmt.Sprintf("%s: %d rows %s", d.table, d.rows, d.where)
}

func (o outcome) rowsDifferent() (n int64) {
	for _, d := range o.differences {
		n += d.rows
	}
	return n
}

// keyless is the most rows that a table without a key may have: they are compared all at once.
const keyless = 100_000

// prepare makes both sessions show the same value as the same text.
func (c *comparison) prepare(ctx context.Context) error {
	for _, s := range []*server{c.source, c.replica} {
		if err := s.do(ctx, "prepare a comparison", "SET SESSION time_zone = '+00:00'"); err != nil {
			return err
		}
	}
	return nil
}

// all compares the tables of some databases.
func (c *comparison) all(ctx context.Context, databases []string) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	source, err := c.source.tables(ctx, databases)
	if err != nil {
		return err
	}
	if err := c.align(ctx); err != nil {
		return err
	}
	replica, err := c.replica.tables(ctx, databases)
	if err != nil {
		return err
	}
	for _, t := range replica {
		if find(source, t.schema, t.name) == nil {
			c.differ(difference{table: t.String(), where: "only on " + c.replica.name})
		}
	}
	for _, t := range source {
		twin := find(replica, t.schema, t.name)
		switch {
		case twin == nil:
			c.differ(difference{table: t.String(), where: "only on " + c.source.name})
		case t.differs(*twin) != "":
			c.differ(difference{table: t.String(), where: t.differs(*twin)})
		default:
			if err := c.table(ctx, t); err != nil {
				return fmt.Errorf("compare %s: %w", t, err)
			}
		}
		c.result.tables++
	}
	return nil
}

func (c *comparison) differ(d difference) { c.result.differences = append(c.result.differences, d) }

// align waits until the replica has what the source has now.
func (c *comparison) align(ctx context.Context) error {
	return awaitLevel(ctx, c.replica, c.source, c.by)
}

func (c *comparison) table(ctx context.Context, t table) error {
	if len(t.key) == 0 {
		if t.rows > keyless {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("it has about %d rows and no key that identifies them", t.rows), Advice: "add a primary key, or leave its database out",
			}
		}
		return c.span(ctx, t, span{})
	}
	var above []engine.Value
	for {
		upTo, err := c.boundary(ctx, t, above)
		if err != nil {
			return err
		}
		if err := c.span(ctx, t, span{above, upTo}); err != nil {
			return err
		}
		if upTo == nil {
			return nil
		}
		above = upTo
	}
}

// boundary is the key of the last row of the next chunk; nil when what is left is no whole chunk.
func (c *comparison) boundary(ctx context.Context, t table, above []engine.Value) ([]engine.Value, error) {
	condition, args := span{above: above}.where(t.key)
	r, err := query(ctx, c.source, fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT 1 OFFSET %d",
		admin.Names(t.key), t.quoted(), condition, admin.Names(t.key), c.chunk-1), args)
	if err != nil || r.Rows == 0 {
		return nil, err
	}
	return held(r.Values), nil
}

// span compares one range.
func (c *comparison) span(ctx context.Context, t table, s span) error {
	theirs, rows, err := digest(ctx, c.source, t, s, "")
	if err != nil {
		return err
	}
	c.result.chunks++
	c.result.rows += rows
	defer func() { c.tell(c.result.rows) }()
	if err := c.align(ctx); err != nil {
		return err
	}
	ours, _, err := digest(ctx, c.replica, t, s, "")
	if err != nil || ours == theirs {
		return err
	}
	if len(t.key) == 0 {
		return c.whole(ctx, t)
	}
	return c.doubtful(ctx, t, s)
}

// digest is what a range comes to, and how many rows it has.
func digest(ctx context.Context, s *server, t table, of span, locking string) (sum string, rows int64, err error) {
	condition, args := of.where(t.key)
	r, err := query(ctx, s, "SELECT "+aggregateOf(t.columns)+" FROM "+t.quoted()+" WHERE "+condition+locking, args)
	if err != nil {
		return "", 0, err
	}
	return keyText(r.Values), r.At(0, 0).Int, nil
}

// whole compares a table without a key while the source holds all of it.
func (c *comparison) whole(ctx context.Context, t table) error {
	return c.holding(ctx, func(ctx context.Context) error {
		theirs, there, err := digest(ctx, c.source, t, span{}, locking)
		if err != nil {
			return err
		}
		if err := c.align(ctx); err != nil {
			return err
		}
		ours, here, err := digest(ctx, c.replica, t, span{}, "")
		if err == nil && ours != theirs {
			c.differ(difference{t.String(), "somewhere (it has no key)", max(there-here, here-there, 1)})
		}
		return err
	})
}

// locking makes a question hold the rows it sees, and the gaps where it saw none, until its transaction ends.
const locking = " LOCK IN SHARE MODE"

// holding does something in a transaction on the source that ends soon, whatever comes.
func (c *comparison) holding(ctx context.Context, do func(context.Context) error) error {
	if err := c.source.do(ctx, "begin a transaction that locks rows", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN"); err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.hold, fmt.Errorf("%s did not catch up with %s within %v", c.replica.name, c.source.name, c.hold))
	defer cancel()
	if err := do(limited); err != nil {
		return err // the caller closes the session, which ends the transaction
	}
	return c.source.do(ctx, "end the transaction that locks rows", "ROLLBACK")
}

// doubtful looks at a range that differed, row by row.
func (c *comparison) doubtful(ctx context.Context, t table, s span) error {
	condition, args := s.where(t.key)
	left, err := c.unlike(ctx, t, condition, args, "")
	if err != nil {
		return err
	}
	const looks = 3
	for n := 0; n < looks && len(left) > 0; n++ {
		if left, err = c.again(ctx, t, left, ""); err != nil {
			return err
		}
	}
	if len(left) > 0 {
		err = c.holding(ctx, func(ctx context.Context) error {
			left, err = c.again(ctx, t, left, locking)
			return err
		})
	}
	if err == nil && len(left) > 0 {
		keys := slices.SortedFunc(maps.Values(left), byKey)
		c.differ(difference{t.String(), "from " + keyText(keys[0]) + " to " + keyText(keys[len(keys)-1]), int64(len(left))})
	}
	return err
}

// again looks once more at some rows, a batch at a time.
func (c *comparison) again(ctx context.Context, t table, doubtful map[string][]engine.Value, locking string) (map[string][]engine.Value, error) {
	const batch = 200
	left := map[string][]engine.Value{}
	for keys := range slices.Chunk(slices.SortedFunc(maps.Values(doubtful), byKey), batch) {
		var parts []string
		var args []engine.Value
		for _, key := range keys {
			same := make([]string, len(key))
			for i, column := range t.key {
				same[i] = admin.Name(column) + " = ?"
			}
			parts, args = append(parts, "("+strings.Join(same, " AND ")+")"), append(args, key...)
		}
		unlike, err := c.unlike(ctx, t, strings.Join(parts, " OR "), args, locking)
		if err != nil {
			return nil, err
		}
		maps.Copy(left, unlike)
	}
	return left, nil
}

// unlike are the keys of rows that are not the same on both sides, by their text.
func (c *comparison) unlike(ctx context.Context, t table, condition string, args []engine.Value, locking string) (map[string][]engine.Value, error) {
	text := "SELECT " + admin.Names(t.key) + ", " + hashOf(t.columns) + " FROM " + t.quoted() + " WHERE " + condition + " LIMIT " + strconv.Itoa(100*c.chunk)
	theirs, err := hashes(ctx, c.source, text+locking, args)
	if err != nil {
		return nil, err
	}
	if err := c.align(ctx); err != nil {
		return nil, err
	}
	ours, err := hashes(ctx, c.replica, text, args)
	if err != nil {
		return nil, err
	}
	unlike := map[string][]engine.Value{}
	for text, row := range theirs {
		if ours[text].hash != row.hash {
			unlike[text] = row.key
		}
	}
	for text, row := range ours {
		if _, there := theirs[text]; !there {
			unlike[text] = row.key
		}
	}
	return unlike, nil
}

type hashedRow struct {
	key  []engine.Value
	hash string
}

func hashes(ctx context.Context, s *server, text string, args []engine.Value) (map[string]hashedRow, error) {
	r, err := query(ctx, s, text, args)
	if err != nil {
		return nil, err
	}
	all := make(map[string]hashedRow, r.Rows)
	for row := range r.Rows {
		values := held(r.Values[row*r.Columns : (row+1)*r.Columns])
		key, last := values[:r.Columns-1], values[r.Columns-1]
		all[keyText(key)] = hashedRow{key, string(last.Data)}
	}
	return all, nil
}

// query runs a text with parameters once.
func query(ctx context.Context, s *server, text string, args []engine.Value) (*engine.Result, error) {
	statement, err := s.Prepare(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", s.name, err)
	}
	r := &engine.Result{Keep: true}
	if err := statement.Exec(ctx, args, r); err != nil {
		return nil, fmt.Errorf("node %s: %w", s.name, err)
	}
	if c, ok := statement.(io.Closer); ok {
		err = c.Close()
	}
	return r, err
}

// byKey orders keys for people: numbers by value, the rest by its text.
func byKey(a, b []engine.Value) int {
	for i := range a {
		if a[i].Kind == engine.Integer && b[i].Kind == engine.Integer {
			if a[i].Int != b[i].Int {
				return int(max(-1, min(1, a[i].Int-b[i].Int)))
			}
			continue
		}
		if order := strings.Compare(keyText(a[i:i+1]), keyText(b[i:i+1])); order != 0 {
			return order
		}
	}
	return 0
}
