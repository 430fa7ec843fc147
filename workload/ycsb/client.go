package ycsb

import (
	"context"
	"fmt"
	"math/rand/v2"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// The statements of a client, by index.
const (
	readText = iota
	insertText
	scanText
	updateText // of field 0, then 1, …
)

// statements lists all that a client may need, in the order of their indexes.
func (w *ycsb) statements() []string {
	texts := []string{readText: w.texts.Read, insertText: w.texts.Insert, scanText: w.texts.Scan}
	for field := range w.Fields {
		texts = append(texts, w.texts.Update(int(field)))
	}
	return texts
}

// client performs the operations of one worker.
type client struct {
	*workload.Connection
	of      *ycsb
	weights random.Weights
	r       *rand.Rand
	choice  random.Distribution
	span    int64 // that choice draws from; 0: the records that are there

	key    []byte
	text   []byte
	args   []engine.Value
	result engine.Result
}

var _ load.Client = (*client)(nil)

func (c *client) Next() int { return c.weights.Draw(c.r) }

func (c *client) Do(ctx context.Context, operation int) error {
	switch c.of.mix[operation].kind {
	case read:
		return c.read(ctx, c.choose())
	case update:
		return c.update(ctx, c.choose())
	case insert:
		return c.insert(ctx)
	case scan:
		return c.scan(ctx, c.choose())
	}
	record := c.choose()
	if err := c.read(ctx, record); err != nil {
		return err
	}
	return c.update(ctx, record)
}

// span is what records are drawn from. Where records are added while the popular ones are scattered over all of them, it
// is twice as many as there are: the popular ones stay the same then while records come, as in YCSB, which must be told
// how many to expect.
func (w *ycsb) span() int64 {
	if w.mix.has(insert) && w.Distribution == "zipfian" {
		return 2 * w.keys.Rows()
	}
	return 0
}

// choose draws a record that is there.
func (c *client) choose() int64 {
	rows := c.of.keys.Rows()
	if c.span == 0 {
		return c.of.keys.Row(c.choice.Draw(c.r, rows))
	}
	for {
		if record := c.choice.Draw(c.r, c.span); record < rows {
			return c.of.keys.Row(record)
		}
	}
}

func (c *client) read(ctx context.Context, record int64) error {
	c.args[0] = c.keyOf(record)
	err := c.Exec(ctx, readText, c.args[:1], &c.result)
	if err == nil && c.result.Rows == 0 {
		return &engine.Error{Kind: engine.Missing, Text: fmt.Sprintf("record %d (%s) is not there", record, c.key)}
	}
	return err
}

func (c *client) update(ctx context.Context, record int64) error {
	field := c.r.IntN(int(c.of.Fields))
	c.text = random.AppendLetters(c.text[:0], int(c.of.FieldLength), c.r)
	c.args[0], c.args[1] = engine.Chars(c.text), c.keyOf(record)
	return c.Exec(ctx, updateText+field, c.args[:2], nil)
}

// insert adds a record. Others pick it once the database has acknowledged it.
func (c *client) insert(ctx context.Context) error {
	record := c.of.keys.Take()
	defer c.of.keys.Settle(record)
	c.args[0] = c.keyOf(record)
	c.text = c.text[:0]
	for i := range c.of.Fields {
		from := len(c.text)
		c.text = random.AppendLetters(c.text, int(c.of.FieldLength), c.r)
		c.args[i+1] = engine.Chars(c.text[from:])
	}
	return c.Exec(ctx, insertText, c.args, nil)
}

func (c *client) scan(ctx context.Context, record int64) error {
	c.args[0], c.args[1] = c.keyOf(record), engine.Int(1+c.r.Int64N(c.of.longest))
	return c.Exec(ctx, scanText, c.args[:2], nil)
}

func (c *client) keyOf(record int64) engine.Value {
	c.key = appendKey(c.key[:0], random.Hash(record))
	return engine.Chars(c.key)
}
