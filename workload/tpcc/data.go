package tpcc

import (
	"math/rand/v2"

	"plimsoll/workload"
	"plimsoll/workload/random"
)

const dataSeed = 1

// loaded is the date of what is there at the start, the same for every data set.
const loaded = "2024-01-01 00:00:00"

type adder = func(row int64, r *rand.Rand, s *workload.Rows)

// dataSet describes the tables as clause 4.3.3 fills them. The warehouses come last, after the indexes: as long as they are
// not there, Adopt finds the data incomplete.
func (p parameters) dataSet() workload.DataSet {
	d := workload.DataSet{
		Tables: tables, Create: create, Indexes: indexes, Seed: dataSeed,
		Sources: []workload.Source{p.orderLines(), p.stock(), p.customers(), p.orders(), p.history(), p.newOrders(), p.items(), p.districts()},
		Seal:    []workload.Source{p.warehouses()},
	}
	if p.ForeignKeys {
		d.Finish = foreignKeys
	}
	return d
}

// rows makes a source of a table whose rows are made by add.
func rows(table string, n int64, add adder, columns ...string) workload.Source {
	return workload.EachRow(table, workload.InsertInto(table, columns...), n, func() adder { return add })
}

func addAddress(s *workload.Rows, r *rand.Rand) {
	for range 3 { // two streets and a city
		s.EndText(appendText(s.Text(), r, 10, 20))
	}
	s.EndText(random.AppendPattern(s.Text(), "??", r))
	s.EndText(random.AppendPattern(s.Text(), "####11111", r))
}

func (p parameters) warehouses() workload.Source {
	return rows("warehouse", p.Scale, func(row int64, r *rand.Rand, s *workload.Rows) {
		s.Int(row + 1)
		s.EndText(appendText(s.Text(), r, 6, 10))
		addAddress(s, r)
		s.Float(share(uniform(r, 0, 2000)))
		s.Float(money(districts * p.paid()))
	}, "w_id", "w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip", "w_tax", "w_ytd")
}

// paid is what a district has taken in at the start, in hundredths: 10.00 of each customer.
func (p parameters) paid() int64 { return p.Customers * 1000 }

func (p parameters) districts() workload.Source {
	return rows("district", p.Scale*districts, func(row int64, r *rand.Rand, s *workload.Rows) {
		s.Int(row/districts + 1)
		s.Int(row%districts + 1)
		s.EndText(appendText(s.Text(), r, 6, 10))
		addAddress(s, r)
		s.Float(share(uniform(r, 0, 2000)))
		s.Float(money(p.paid()))
		s.Int(p.Customers + 1)
	}, "d_w_id", "d_id", "d_name", "d_street_1", "d_street_2", "d_city", "d_state", "d_zip", "d_tax", "d_ytd", "d_next_o_id")
}

// place tells the warehouse, district and number of a row of a table with a row per customer.
func (p parameters) place(row int64) (w, d, c int64) {
	return row/(districts*p.Customers) + 1, row/p.Customers%districts + 1, row%p.Customers + 1
}

func (p parameters) customers() workload.Source {
	return rows("customer", p.Scale*districts*p.Customers, func(row int64, r *rand.Rand, s *workload.Rows) {
		w, d, c := p.place(row)
		s.Int(w)
		s.Int(d)
		s.Int(c)
		s.EndText(appendText(s.Text(), r, 8, 16))
		s.String("OE")
		last := c - 1
		if last >= 1000 {
			last = constants{last: loadedLast}.lastName(r, p.Customers)
		}
		s.EndText(appendLastName(s.Text(), last))
		addAddress(s, r)
		s.EndText(random.AppendDigits(s.Text(), 16, r))
		s.String(loaded)
		credit := "GC"
		if r.IntN(10) == 0 {
			credit = "BC"
		}
		s.String(credit)
		s.Float(50_000)
		s.Float(share(uniform(r, 0, 5000)))
		s.Float(-10)
		s.Float(10)
		s.Int(1)
		s.Int(0)
		s.EndText(appendText(s.Text(), r, 300, 500))
	}, "c_w_id", "c_d_id", "c_id", "c_first", "c_middle", "c_last", "c_street_1", "c_street_2", "c_city", "c_state", "c_zip",
		"c_phone", "c_since", "c_credit", "c_credit_lim", "c_discount", "c_balance", "c_ytd_payment", "c_payment_cnt", "c_delivery_cnt", "c_data")
}

func (p parameters) history() workload.Source {
	return rows("history", p.Scale*districts*p.Customers, func(row int64, r *rand.Rand, s *workload.Rows) {
		w, d, c := p.place(row)
		s.Int(c)
		s.Int(d)
		s.Int(w)
		s.Int(d)
		s.Int(w)
		s.String(loaded)
		s.Float(10)
		s.EndText(appendText(s.Text(), r, 12, 24))
	}, "h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount", "h_data")
}

// delivered tells whether an order of the start has been delivered: 7 of 10, the older ones.
func (p parameters) delivered(order int64) bool { return order <= p.Customers-p.Customers*3/10 }

// lines is how many lines an order of the start has, 5 to 15: the same for its row and for its lines, which are made apart.
func lines(w, d, order int64) int64 { return 5 + random.Hash((w*districts+d)<<16+order)%11 }

// orders are made by district, because a district's customers have one order each, in random order.
func (p parameters) orders() workload.Source {
	return workload.Source{
		Table: "orders", Units: p.Scale * districts, Total: p.Scale * districts * p.Customers,
		Insert: workload.InsertInto("orders", "o_w_id", "o_d_id", "o_id", "o_c_id", "o_entry_d", "o_carrier_id", "o_ol_cnt", "o_all_local"),
		New: func() func(int64, *rand.Rand, *workload.Rows) {
			return func(unit int64, r *rand.Rand, s *workload.Rows) {
				w, d := unit/districts+1, unit%districts+1
				for i, customer := range r.Perm(int(p.Customers)) {
					order := int64(i + 1)
					s.Int(w)
					s.Int(d)
					s.Int(order)
					s.Int(int64(customer + 1))
					s.String(loaded)
					if p.delivered(order) {
						s.Int(uniform(r, 1, 10))
					} else {
						s.Null()
					}
					s.Int(lines(w, d, order))
					s.Int(1)
					s.End()
				}
			}
		},
	}
}

func (p parameters) orderLines() workload.Source {
	return workload.Source{
		Table: "order_line", Units: p.Scale * districts, Total: p.Scale * districts * p.Customers * 10,
		Insert: workload.InsertInto("order_line", "ol_w_id", "ol_d_id", "ol_o_id", "ol_number", "ol_i_id", "ol_supply_w_id",
			"ol_delivery_d", "ol_quantity", "ol_amount", "ol_dist_info"),
		New: func() func(int64, *rand.Rand, *workload.Rows) {
			return func(unit int64, r *rand.Rand, s *workload.Rows) {
				w, d := unit/districts+1, unit%districts+1
				for order := int64(1); order <= p.Customers; order++ {
					for line := range lines(w, d, order) {
						s.Int(w)
						s.Int(d)
						s.Int(order)
						s.Int(line + 1)
						s.Int(uniform(r, 1, p.Items))
						s.Int(w)
						if p.delivered(order) {
							s.String(loaded)
							s.Int(5)
							s.Float(0)
						} else {
							s.Null()
							s.Int(5)
							s.Float(money(uniform(r, 1, 999_999)))
						}
						s.EndText(random.AppendLetters(s.Text(), 24, r))
						s.End()
					}
				}
			}
		},
	}
}

func (p parameters) newOrders() workload.Source {
	first := p.Customers - p.Customers*3/10 + 1
	each := p.Customers - first + 1
	return rows("new_order", p.Scale*districts*each, func(row int64, _ *rand.Rand, s *workload.Rows) {
		s.Int(row/(districts*each) + 1)
		s.Int(row/each%districts + 1)
		s.Int(first + row%each)
	}, "no_w_id", "no_d_id", "no_o_id")
}

func (p parameters) items() workload.Source {
	return rows("item", p.Items, func(row int64, r *rand.Rand, s *workload.Rows) {
		s.Int(row + 1)
		s.Int(uniform(r, 1, 10_000))
		s.EndText(appendText(s.Text(), r, 14, 24))
		s.Float(money(uniform(r, 100, 10_000)))
		s.EndText(appendData(s.Text(), r))
	}, "i_id", "i_im_id", "i_name", "i_price", "i_data")
}

func (p parameters) stock() workload.Source {
	return rows("stock", p.Scale*p.Items, func(row int64, r *rand.Rand, s *workload.Rows) {
		s.Int(row/p.Items + 1)
		s.Int(row%p.Items + 1)
		s.Int(uniform(r, 10, 100))
		for range districts {
			s.EndText(random.AppendLetters(s.Text(), 24, r))
		}
		s.Int(0)
		s.Int(0)
		s.Int(0)
		s.EndText(appendData(s.Text(), r))
	}, "s_w_id", "s_i_id", "s_quantity", "s_dist_01", "s_dist_02", "s_dist_03", "s_dist_04", "s_dist_05", "s_dist_06", "s_dist_07",
		"s_dist_08", "s_dist_09", "s_dist_10", "s_ytd", "s_order_cnt", "s_remote_cnt", "s_data")
}
