package tpcc

import (
	"context"

	"plimsoll/engine"
)

// orderStatus looks at a customer's last order (clause 2.6).
func (c *client) orderStatus(ctx context.Context) error {
	asker := c.someone(c.warehouse(), c.district())
	return c.Transact(ctx, c.Retries, func(ctx context.Context) (bool, error) { return true, c.look(ctx, asker) })
}

func (c *client) look(ctx context.Context, asker who) error {
	id, err := c.identify(ctx, asker)
	if err != nil {
		return err
	}
	w, d := engine.Int(asker.w), engine.Int(asker.d)
	if err := c.find(ctx, askingCustomer, w, d, engine.Int(id)); err != nil {
		return err
	}
	if err := c.find(ctx, lastOrder, w, d, engine.Int(id)); err != nil {
		return err
	}
	return c.find(ctx, linesOfOrder, w, d, engine.Int(c.rows.At(0, 0).Int))
}
