package custom

import (
	"context"
	"math/rand/v2"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// client performs the operations of one worker.
type client struct {
	*workload.Connection
	operations []task
	weights    random.Weights
	drawing    drawing
	args       []engine.Value
	taken      []taken // the keys of new rows, which this operation took
}

var _ load.Client = (*client)(nil)

// task is an operation with this worker's own generators.
type task struct {
	*operation
	first  int // of its statements, among all
	draw   []generator
	values []engine.Value
}

// taken is the number of a row that an operation adds.
type taken struct {
	keys *workload.Keys
	row  int64
}

func newClient(c *workload.Connection, operations []*operation, weights random.Weights, r *rand.Rand) *client {
	out := &client{Connection: c, weights: weights, drawing: drawing{r: r}}
	first := 0
	for _, o := range operations {
		t := task{operation: o, first: first, values: make([]engine.Value, len(o.parameters))}
		for _, p := range o.parameters {
			t.draw = append(t.draw, p.value())
		}
		out.operations = append(out.operations, t)
		first += len(o.statements)
	}
	return out
}

func (c *client) Next() int { return c.weights.Draw(c.drawing.r) }

func (c *client) Do(ctx context.Context, operation int) error {
	t := &c.operations[operation]
	c.fill(t)
	err := c.End(ctx, c.do(ctx, t))
	for _, k := range c.taken { // added, or given up
		k.keys.Settle(k.row)
	}
	return err
}

// fill draws the values of an operation.
func (c *client) fill(t *task) {
	c.drawing.text, c.taken = c.drawing.text[:0], c.taken[:0]
	for i, g := range t.draw {
		if n, ok := g.(next); ok {
			row := n.table.keys.Take()
			c.taken = append(c.taken, taken{n.table.keys, row})
			t.values[i] = engine.Int(n.table.first + row)
			continue
		}
		t.values[i] = g.value(&c.drawing)
	}
}

func (c *client) do(ctx context.Context, t *task) error {
	if t.transaction {
		if err := c.Begin(ctx); err != nil {
			return err
		}
	}
	for i, s := range t.statements {
		c.args = c.args[:0]
		for _, p := range s.args {
			c.args = append(c.args, t.values[p])
		}
		if err := c.Exec(ctx, t.first+i, c.args, nil); err != nil {
			return err
		}
	}
	if t.transaction {
		return c.Commit(ctx)
	}
	return nil
}
