package tpcc

import (
	"context"

	"plimsoll/engine"
)

// line is one line of an order being entered.
type line struct {
	item, supplier, quantity int64
}

// newOrder enters an order (clause 2.4). One of a hundred names an item that is not there and is rolled back, which is how
// it is meant to end.
func (c *client) newOrder(ctx context.Context) error {
	w, d := c.warehouse(), c.district()
	customer := c.customerID(c.r, c.Customers)
	c.lines = c.lines[:0]
	local := int64(1)
	for range uniform(c.r, 5, 15) {
		l := line{item: c.itemID(c.r, c.Items), supplier: w, quantity: uniform(c.r, 1, 10)}
		if c.Scale > 1 && c.r.IntN(100) == 0 {
			l.supplier, local = c.otherWarehouse(w), 0
		}
		c.lines = append(c.lines, l)
	}
	if c.r.IntN(100) == 0 {
		c.lines[len(c.lines)-1].item = c.Items + 1
	}
	return c.Transact(ctx, c.Retries, func(ctx context.Context) (bool, error) { return c.enter(ctx, w, d, customer, local) })
}

func (c *client) enter(ctx context.Context, w, d, customer, local int64) (keep bool, err error) {
	if err := c.find(ctx, customerAndTax, engine.Int(w), engine.Int(d), engine.Int(customer)); err != nil {
		return false, err
	}
	if err := c.find(ctx, nextOrder, engine.Int(w), engine.Int(d)); err != nil {
		return false, err
	}
	order := c.rows.At(0, 0).Int
	if err := c.write(ctx, takeOrder, engine.Int(w), engine.Int(d)); err != nil {
		return false, err
	}
	if err := c.write(ctx, addOrder, engine.Int(order), engine.Int(d), engine.Int(w), engine.Int(customer),
		engine.Int(int64(len(c.lines))), engine.Int(local)); err != nil {
		return false, err
	}
	if err := c.write(ctx, addNewOrder, engine.Int(order), engine.Int(d), engine.Int(w)); err != nil {
		return false, err
	}
	for i, l := range c.lines {
		if err := c.read(ctx, itemOf, engine.Int(l.item)); err != nil {
			return false, err
		}
		if c.rows.Rows == 0 {
			return false, nil
		}
		price := cents(c.rows.At(0, 0))
		if err := c.enterLine(ctx, w, d, order, int64(i+1), l, price); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *client) enterLine(ctx context.Context, w, d, order, number int64, l line, price int64) error {
	if err := c.find(ctx, stockOfDistrict+int(d-1), engine.Int(l.item), engine.Int(l.supplier)); err != nil {
		return err
	}
	quantity := c.rows.At(0, 0).Int - l.quantity
	if quantity < 10 {
		quantity += 91
	}
	remote := int64(0)
	if l.supplier != w {
		remote = 1
	}
	c.data = append(c.data[:0], c.rows.At(0, 2).Data...)
	if err := c.write(ctx, takeStock, engine.Int(quantity), engine.Int(l.quantity), engine.Int(remote), engine.Int(l.item), engine.Int(l.supplier)); err != nil {
		return err
	}
	return c.write(ctx, addLine, engine.Int(order), engine.Int(d), engine.Int(w), engine.Int(number), engine.Int(l.item), engine.Int(l.supplier),
		engine.Int(l.quantity), engine.Float(money(l.quantity*price)), engine.Chars(c.data))
}
