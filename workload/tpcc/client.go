package tpcc

import (
	"context"
	"fmt"
	"math/rand/v2"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// client performs the transactions of one worker. A new operation draws its input; a retry repeats it.
type client struct {
	*workload.Connection
	parameters
	constants
	mix random.Weights
	r   *rand.Rand

	args  []engine.Value
	rows  engine.Result // of the statement that selected last
	lines []line        // of the order being entered
	data  []byte        // c_data or h_data being written
	name  []byte        // last name being looked for
}

var _ load.Client = (*client)(nil)

func newClient(c *workload.Connection, p parameters, of constants, mix random.Weights, r *rand.Rand) *client {
	return &client{Connection: c, parameters: p, constants: of, mix: mix, r: r, rows: engine.Result{Keep: true}}
}

func (c *client) Next() int { return c.mix.Draw(c.r) }

func (c *client) Do(ctx context.Context, operation int) error {
	return operations[operation].do(c, ctx)
}

// write runs a statement that returns no rows.
func (c *client) write(ctx context.Context, statement int, args ...engine.Value) error {
	c.args = append(c.args[:0], args...)
	return c.Exec(ctx, statement, c.args, nil)
}

// read runs a SELECT, whose rows are in c.rows until the next.
func (c *client) read(ctx context.Context, statement int, args ...engine.Value) error {
	c.args = append(c.args[:0], args...)
	return c.Exec(ctx, statement, c.args, &c.rows)
}

// find is read where a row must be there.
func (c *client) find(ctx context.Context, statement int, args ...engine.Value) error {
	err := c.read(ctx, statement, args...)
	if err == nil && c.rows.Rows == 0 {
		return &engine.Error{Kind: engine.Missing, Text: fmt.Sprintf("no row for %.60s… with %s", texts[min(statement, len(texts)-1)], numbers(args))}
	}
	return err
}

func numbers(args []engine.Value) string {
	text := ""
	for _, a := range args {
		text += fmt.Sprintf("%d ", a.Int)
	}
	return text
}

// cents reads a DECIMAL with two places, which an engine gives as a text or as a number.
func cents(v engine.Value) int64 {
	switch v.Kind {
	case engine.Integer:
		return v.Int * 100
	case engine.Real:
		if v.Float < 0 {
			return int64(v.Float*100 - 0.5)
		}
		return int64(v.Float*100 + 0.5)
	}
	n, places, negative := int64(0), -1, false
	for _, b := range v.Data {
		switch {
		case b == '-':
			negative = true
		case b == '.':
			places = 0
		case places < 2:
			n = n*10 + int64(b-'0')
			if places >= 0 {
				places++
			}
		}
	}
	for places = max(places, 0); places < 2; places++ {
		n *= 10
	}
	if negative {
		return -n
	}
	return n
}

// warehouse draws the warehouse where an operation takes place.
func (c *client) warehouse() int64 { return uniform(c.r, 1, c.Scale) }

// otherWarehouse draws any but one.
func (c *client) otherWarehouse(than int64) int64 {
	w := uniform(c.r, 1, c.Scale-1)
	if w >= than {
		w++
	}
	return w
}

func (c *client) district() int64 { return uniform(c.r, 1, districts) }
