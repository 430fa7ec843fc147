package tpcc

import (
	"context"

	"plimsoll/engine"
)

// delivery delivers the oldest new order of each district of a warehouse (clause 2.7), in one transaction.
func (c *client) delivery(ctx context.Context) error {
	w, carrier := c.warehouse(), uniform(c.r, 1, 10)
	return c.Transact(ctx, c.Retries, func(ctx context.Context) (bool, error) {
		for d := int64(1); d <= districts; d++ {
			if err := c.deliver(ctx, engine.Int(w), engine.Int(d), engine.Int(carrier)); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// deliver does it for one district, which may have no new order.
func (c *client) deliver(ctx context.Context, w, d, carrier engine.Value) error {
	if err := c.read(ctx, oldestNewOrder, w, d); err != nil || c.rows.Rows == 0 {
		return err
	}
	order := engine.Int(c.rows.At(0, 0).Int)
	if err := c.write(ctx, dropNewOrder, w, d, order); err != nil {
		return err
	}
	if err := c.find(ctx, customerOfOrder, w, d, order); err != nil {
		return err
	}
	customer := engine.Int(c.rows.At(0, 0).Int)
	if err := c.write(ctx, carryOrder, carrier, w, d, order); err != nil {
		return err
	}
	if err := c.write(ctx, deliverLines, w, d, order); err != nil {
		return err
	}
	if err := c.find(ctx, amountOfOrder, w, d, order); err != nil {
		return err
	}
	return c.write(ctx, creditCustomer, engine.Float(money(cents(c.rows.At(0, 0)))), w, d, customer)
}
