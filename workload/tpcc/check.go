package tpcc

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/engine"
)

// condition is one of the consistency conditions of clause 3.3.2: a SELECT of a place where it does not hold.
type condition struct {
	clause string
	says   string
	broken string
}

var conditions = []condition{
	{"3.3.2.1", "a warehouse's w_ytd is the sum of its districts' d_ytd", `
SELECT w_id, w_ytd, SUM(d_ytd) FROM warehouse LEFT JOIN district ON d_w_id = w_id
GROUP BY w_id, w_ytd HAVING SUM(d_ytd) IS NULL OR w_ytd <> SUM(d_ytd) LIMIT 1`},
	{"3.3.2.2", "a district's d_next_o_id - 1 is the highest o_id and no_o_id", `
SELECT * FROM (
  SELECT d_w_id, d_id, d_next_o_id,
    (SELECT MAX(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) AS o,
    (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) AS n
  FROM district) AS highest
WHERE o IS NULL OR o <> d_next_o_id - 1 OR n <> d_next_o_id - 1 LIMIT 1`},
	{"3.3.2.3", "the no_o_id of a district follow each other without a gap", `
SELECT no_w_id, no_d_id, MAX(no_o_id), MIN(no_o_id), COUNT(*) FROM new_order
GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*) LIMIT 1`},
	{"3.3.2.4", "the sum of a district's o_ol_cnt is the number of its order lines", `
SELECT o.w, o.d, o.n, l.n FROM
  (SELECT o_w_id AS w, o_d_id AS d, SUM(o_ol_cnt) AS n FROM orders GROUP BY o_w_id, o_d_id) AS o LEFT JOIN
  (SELECT ol_w_id AS w, ol_d_id AS d, COUNT(*) AS n FROM order_line GROUP BY ol_w_id, ol_d_id) AS l ON l.w = o.w AND l.d = o.d
WHERE l.n IS NULL OR o.n <> l.n LIMIT 1`},
	{"3.3.2.5", "an order has no carrier exactly as long as it is a new order", `
SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id FROM orders
LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL) LIMIT 1`},
	{"3.3.2.6", "an order's o_ol_cnt is the number of its lines", `
SELECT o_w_id, o_d_id, o_id, o_ol_cnt FROM orders
WHERE o_ol_cnt <> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id) LIMIT 1`},
	{"3.3.2.7", "a line has no delivery date exactly as long as its order has no carrier", `
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number FROM orders
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL) LIMIT 1`},
	{"3.3.2.8", "a warehouse's w_ytd is the sum of its history's h_amount", `
SELECT w_id, w_ytd, paid FROM warehouse
LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) AS h ON h_w_id = w_id
WHERE paid IS NULL OR w_ytd <> paid LIMIT 1`},
	{"3.3.2.9", "a district's d_ytd is the sum of its history's h_amount", `
SELECT d_w_id, d_id, d_ytd, paid FROM district
LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) AS h ON h_w_id = d_w_id AND h_d_id = d_id
WHERE paid IS NULL OR d_ytd <> paid LIMIT 1`},
	{"3.3.2.12", "a customer's c_balance + c_ytd_payment is the sum of its delivered lines' ol_amount", `
SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, amount FROM customer
LEFT JOIN (
  SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS amount FROM orders
  JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
  WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) AS delivered
ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
WHERE c_balance + c_ytd_payment <> COALESCE(amount, 0) LIMIT 1`},
}

// InconsistentError is a consistency condition of TPC-C that does not hold.
type InconsistentError struct {
	Clause, Says string
	Row          string // of the first place, with its key first
}

func (e *InconsistentError) Error() string {
	return fmt.Sprintf("tpcc data is inconsistent, condition %s: %s, but not at (%s)", e.Clause, e.Says, e.Row)
}

// Check implements workload.Checker. No load may be under way.
func (w *tpcc) Check(ctx context.Context, db engine.Database) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, c := range conditions {
		r := engine.Result{Keep: true}
		if err := session.Exec(ctx, c.broken, &r); err != nil {
			return fmt.Errorf("check condition %s: %w", c.clause, err)
		}
		if r.Rows > 0 {
			return &InconsistentError{Clause: c.clause, Says: c.says, Row: row(&r)}
		}
	}
	return nil
}

// row shows the first row of a result.
func row(r *engine.Result) string {
	values := make([]string, r.Columns)
	for i := range values {
		switch v := r.At(0, i); v.Kind {
		case engine.Null:
			values[i] = "NULL"
		case engine.Integer:
			values[i] = fmt.Sprint(v.Int)
		case engine.Real:
			values[i] = fmt.Sprint(v.Float)
		default:
			values[i] = string(v.Data)
		}
	}
	return strings.Join(values, ", ")
}
