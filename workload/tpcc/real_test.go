package tpcc

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/workload"
)

const small = "{scale: 3, items: 2000, customers: 60}"

func TestOnRealServers(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		w := of(t, small)
		if err := w.Prepare(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
		var present *workload.PresentError
		if err := w.Prepare(t.Context(), db, nil); !errors.As(err, &present) {
			t.Errorf("a second preparation: %v", err)
		}
		if err := w.Check(t.Context(), db); err != nil {
			t.Fatalf("fresh data: %v", err)
		}
		w = of(t, "retries: 0")
		if err := w.Adopt(t.Context(), db); err != nil || w.Scale != 3 || w.Items != 2000 || w.Customers != 60 {
			t.Fatalf("adopted %+v, %v", w.parameters, err)
		}
		before := labtest.Status(t, db, "Com_commit", "Com_rollback")
		tally := labtest.Drive(t, w, db, 5, 8, 500)
		done := 0
		for _, n := range tally.Done {
			done += n
		}
		for class, n := range tally.Errors {
			if class != engine.Deadlock && class != engine.LockTimeout {
				t.Errorf("%d operations ended in %s: %v", n, class, tally.First[class])
			}
		}
		after := labtest.Status(t, db, "Com_commit", "Com_rollback")
		ended := after["Com_commit"] - before["Com_commit"] + after["Com_rollback"] - before["Com_rollback"]
		if ended != 8*500 || done < 3000 {
			t.Errorf("%d transactions ended for %d operations, %d done", ended, 8*500, done)
		}
		if err := w.Check(t.Context(), db); err != nil {
			t.Errorf("after the load: %v", err)
		}
		t.Run("check", func(t *testing.T) { breakEverything(t, w, db) })
		t.Run("queries", func(t *testing.T) { countQueries(t, w, db) })
		if err := w.Cleanup(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if left := labtest.Query(t, db, "SHOW TABLES"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// breakEverything violates each condition by the smallest change there is, and takes it back.
func breakEverything(t *testing.T, w *tpcc, db engine.Database) {
	for _, c := range []struct{ clause, change string }{
		{"3.3.2.1", "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 2"},
		{"3.3.2.2", "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 3 AND d_id = 4"},
		{"3.3.2.3", "UPDATE new_order SET no_o_id = 1 WHERE no_w_id = 1 AND no_d_id = 5 ORDER BY no_o_id LIMIT 1"},
		{"3.3.2.4", "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 10 AND ol_o_id = 3 AND ol_number = 5"},
		{"3.3.2.5", "UPDATE orders SET o_carrier_id = 3 WHERE o_w_id = 2 AND o_d_id = 2 AND o_carrier_id IS NULL ORDER BY o_id LIMIT 1"},
		{"3.3.2.6", "UPDATE orders SET o_ol_cnt = CASE o_id WHEN 1 THEN o_ol_cnt + 1 ELSE o_ol_cnt - 1 END WHERE o_w_id = 3 AND o_d_id = 3 AND o_id IN (1, 2)"},
		{"3.3.2.7", "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 2 AND ol_d_id = 7 AND ol_o_id = 1 AND ol_number = 1"},
		{"3.3.2.8", "UPDATE history SET h_w_id = 1 WHERE h_w_id = 3 LIMIT 1"},
		{"3.3.2.9", "UPDATE history SET h_d_id = 1 WHERE h_w_id = 3 AND h_d_id = 2 LIMIT 1"},
		{"3.3.2.12", "UPDATE customer SET c_balance = c_balance + 0.01 WHERE c_w_id = 3 AND c_d_id = 9 AND c_id = 60"},
	} {
		var broken *InconsistentError
		restore := keep(t, db, c.change)
		err := w.Check(t.Context(), db)
		if !errors.As(err, &broken) || broken.Clause != c.clause {
			t.Errorf("after %s: %v, expected condition %s", c.change, err, c.clause)
		}
		restore()
	}
	labtest.Ask(t, db, "DROP TABLE kept")
	if err := w.Check(t.Context(), db); err != nil {
		t.Errorf("after all was undone: %v", err)
	}
}

// keep copies the table that a statement changes, runs it, and returns what brings the old rows back.
func keep(t *testing.T, db engine.Database, change string) func() {
	var table string
	for _, word := range strings.Fields(change) {
		if table == "" && slices.Contains(tables, word) {
			table = word
		}
	}
	labtest.Ask(t, db, "DROP TABLE IF EXISTS kept", "CREATE TABLE kept AS SELECT * FROM "+table, change)
	return func() {
		labtest.Ask(t, db, "DELETE FROM "+table, "INSERT INTO "+table+" SELECT * FROM kept")
	}
}

// countQueries compares what the workload says of its queries with the server's own count.
func countQueries(t *testing.T, w *tpcc, db engine.Database) {
	c, err := w.Connect(db, 9)(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, want := range w.QueriesPerOperation() {
		if w.Operations()[i] == "delivery" { // runs out of orders
			continue
		}
		const n = 300
		before := labtest.Status(t, db, "Questions")["Questions"]
		for range n {
			if err := c.Do(t.Context(), i); err != nil {
				t.Fatal(err)
			}
		}
		after := labtest.Status(t, db, "Questions")["Questions"]
		if got := float64(after-before) / n; math.Abs(got-want) > 0.04*want {
			t.Errorf("%s: %.2f queries, expected %.2f", w.Operations()[i], got, want)
		}
	}
}

func TestForeignKeysHold(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		w := of(t, "{scale: 2, items: 500, customers: 30, foreign_keys: true}")
		if err := w.Prepare(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
		keys := labtest.Query(t, db, "SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema = 'test'")
		if keys[0] != "10" {
			t.Errorf("%s foreign keys", keys[0])
		}
		tally := labtest.Drive(t, w, db, 5, 2, 200)
		for class, n := range tally.Errors {
			if class != engine.Deadlock {
				t.Errorf("%d operations ended in %s: %v", n, class, tally.First[class])
			}
		}
		if err := w.Check(t.Context(), db); err != nil {
			t.Error(err)
		}
		if err := w.Cleanup(t.Context(), db); err != nil {
			t.Error(err)
		}
	})
}
