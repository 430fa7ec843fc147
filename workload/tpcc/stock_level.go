package tpcc

import (
	"context"

	"plimsoll/engine"
)

// stockLevel counts the items of a district's last 20 orders that run low (clause 2.8).
func (c *client) stockLevel(ctx context.Context) error {
	w, d := engine.Int(c.warehouse()), engine.Int(c.district())
	threshold := engine.Int(uniform(c.r, 10, 20))
	return c.Transact(ctx, c.Retries, func(ctx context.Context) (bool, error) {
		if err := c.find(ctx, orderCount, w, d); err != nil {
			return false, err
		}
		next := c.rows.At(0, 0).Int
		return true, c.find(ctx, lowStock, w, d, engine.Int(next-20), engine.Int(next), w, threshold)
	})
}
