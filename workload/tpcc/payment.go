package tpcc

import (
	"context"
	"strconv"

	"plimsoll/engine"
)

// who is a customer, asked for by number or by last name.
type who struct {
	w, d, id int64
	name     int64 // number of the last name; -1: asked for by number
}

// someone draws a customer: 6 of 10 are asked for by last name.
func (c *client) someone(w, d int64) who {
	if c.r.IntN(100) < 60 {
		return who{w: w, d: d, name: c.lastName(c.r, c.Customers)}
	}
	return who{w: w, d: d, name: -1, id: c.customerID(c.r, c.Customers)}
}

// identify finds the number of a customer; among several of a name the one in the middle by first name, rounded up.
func (c *client) identify(ctx context.Context, p who) (int64, error) {
	if p.name < 0 {
		return p.id, nil
	}
	c.name = appendLastName(c.name[:0], p.name)
	if err := c.find(ctx, customersOfName, engine.Int(p.w), engine.Int(p.d), engine.Chars(c.name)); err != nil {
		return 0, err
	}
	return c.rows.At((c.rows.Rows+1)/2-1, 0).Int, nil
}

// payment takes a customer's money (clause 2.5), from a customer of another warehouse 15 times of 100.
func (c *client) payment(ctx context.Context) error {
	w, d := c.warehouse(), c.district()
	payer := c.someone(w, d)
	if c.Scale > 1 && c.r.IntN(100) < 15 {
		payer.w, payer.d = c.otherWarehouse(w), c.district()
	}
	amount := uniform(c.r, 100, 500_000)
	return c.Transact(ctx, c.Retries, func(ctx context.Context) (bool, error) { return true, c.pay(ctx, w, d, payer, amount) })
}

func (c *client) pay(ctx context.Context, w, d int64, payer who, amount int64) error {
	sum := engine.Float(money(amount))
	if err := c.write(ctx, payWarehouse, sum, engine.Int(w)); err != nil {
		return err
	}
	if err := c.find(ctx, warehouseAddress, engine.Int(w)); err != nil {
		return err
	}
	var names [24]byte // h_data: the warehouse's name, four spaces, the district's
	history := append(append(names[:0], c.rows.At(0, 5).Data...), "    "...)
	if err := c.write(ctx, payDistrict, sum, engine.Int(w), engine.Int(d)); err != nil {
		return err
	}
	if err := c.find(ctx, districtAddress, engine.Int(w), engine.Int(d)); err != nil {
		return err
	}
	history = append(history, c.rows.At(0, 5).Data...)

	id, err := c.identify(ctx, payer)
	if err != nil {
		return err
	}
	customer := [3]engine.Value{engine.Int(payer.w), engine.Int(payer.d), engine.Int(id)}
	if err := c.find(ctx, payingCustomer, customer[:]...); err != nil {
		return err
	}
	const credit = 9
	if string(c.rows.At(0, credit).Data) == "BC" {
		err = c.payBad(ctx, w, d, customer, sum, amount)
	} else {
		err = c.write(ctx, payCustomer, sum, sum, customer[0], customer[1], customer[2])
	}
	if err != nil {
		return err
	}
	c.data = append(c.data[:0], history...)
	return c.write(ctx, addHistory, customer[1], customer[0], customer[2], engine.Int(d), engine.Int(w), sum, engine.Chars(c.data))
}

// payBad books the payment of a customer of bad credit, whose data takes it down, 500 characters at most.
func (c *client) payBad(ctx context.Context, w, d int64, customer [3]engine.Value, sum engine.Value, amount int64) error {
	if err := c.find(ctx, customerData, customer[:]...); err != nil {
		return err
	}
	c.data = c.data[:0]
	for _, n := range [5]int64{customer[2].Int, customer[1].Int, customer[0].Int, d, w} {
		c.data = append(strconv.AppendInt(c.data, n, 10), ' ')
	}
	c.data = append(strconv.AppendFloat(c.data, money(amount), 'f', 2, 64), ' ')
	c.data = append(c.data, c.rows.At(0, 0).Data...)
	return c.write(ctx, payBadCustomer, sum, sum, engine.Chars(c.data[:min(len(c.data), 500)]), customer[0], customer[1], customer[2])
}
