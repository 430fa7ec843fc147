package oltp

import (
	"context"
	"math/rand/v2"
	"strings"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// client performs the transactions of one worker.
type client struct {
	*workload.Connection
	plan
	tables
	r   *rand.Rand
	ids random.Distribution

	id   int64 // of the row asked for last
	args [4]engine.Value
	text []byte
}

var _ load.Client = (*client)(nil)

func (c *client) Next() int { return 0 }

func (c *client) Do(ctx context.Context, _ int) error {
	if c.trx {
		return c.Transact(ctx, c.retries, c.queriesDone)
	}
	_, err := c.queriesDone(ctx)
	return err
}

// queriesDone runs the queries once, which are to be committed.
func (c *client) queriesDone(ctx context.Context) (keep bool, err error) {
	first := 0 // of the texts of this group
	for _, g := range c.groups {
		table := 0
		if c.Tables > 1 {
			table = c.r.IntN(int(c.Tables))
		}
		for range g.times {
			for i, q := range g.queries {
				if err := c.Exec(ctx, first+i*int(c.Tables)+table, q.bind(c), nil); err != nil {
					return false, err
				}
			}
		}
		first += len(g.queries) * int(c.Tables)
	}
	return true, nil
}

// row draws the id of a row.
func (c *client) row() int64 { return 1 + c.ids.Draw(c.r, c.TableSize) }

// texts lists the statements to prepare: for each query of each group, one a table.
func (p plan) texts(tables int64) []string {
	var texts []string
	for _, g := range p.groups {
		for _, q := range g.queries {
			for n := range tables {
				texts = append(texts, strings.Replace(q.text, "$table", table(n+1), 1))
			}
		}
	}
	return texts
}
