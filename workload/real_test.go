package workload_test

import (
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/workload"
)

// A connection is interrupted while it waits for a lock, killed by an administrator, and comes back each time with its
// statements prepared and no transaction left open.
func TestConnectionsComeBackOnRealServers(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		labtest.Ask(t, db, "CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)")
		texts := []string{"UPDATE t SET n = n + 1 WHERE id = ?", "SELECT CONNECTION_ID()"}
		add := func(c *workload.Connection, rows ...int64) error {
			if err := c.Begin(t.Context()); err != nil {
				return err
			}
			for _, row := range rows {
				if err := c.Exec(t.Context(), 0, []engine.Value{engine.Int(row)}, nil); err != nil {
					return err
				}
			}
			return c.Commit(t.Context())
		}
		dial := func() *workload.Connection {
			c, err := workload.Dial(t.Context(), db, texts)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}
		holder, waiter := dial(), dial()
		if err := holder.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := holder.Exec(t.Context(), 0, []engine.Value{engine.Int(1)}, nil); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- waiter.End(t.Context(), add(waiter, 2, 1)) }()
		for len(labtest.Query(t, db, "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")) == 0 {
			select {
			case err := <-ended:
				t.Fatalf("it did not wait: %v", err)
			case <-time.After(150 * time.Millisecond): // who looks again within 0.1 s is shown what was shown before
			}
		}
		waiter.Interrupt()
		if err := <-ended; !workload.Lost(err) {
			t.Errorf("interrupted: %v", err)
		}
		if err := waiter.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := holder.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := waiter.End(t.Context(), add(waiter, 2, 1)); err != nil {
			t.Errorf("after the reconnect: %v", err)
		}

		r := engine.Result{Keep: true}
		if err := waiter.Exec(t.Context(), 1, nil, &r); err != nil {
			t.Fatal(err)
		}
		session, err := db.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if err := session.Exec(t.Context(), "KILL "+labtest.Show(r.At(0, 0)), nil); err != nil {
			t.Fatal(err)
		}
		if err := waiter.End(t.Context(), add(waiter, 1)); !workload.Lost(err) {
			t.Errorf("killed: %v", err)
		}
		if err := waiter.Reconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := waiter.End(t.Context(), add(waiter, 1)); err != nil {
			t.Errorf("after the second reconnect: %v", err)
		}
		if rows := labtest.Query(t, db, "SELECT id, n FROM t ORDER BY id"); rows[0] != "1 3" || rows[1] != "2 1" {
			t.Errorf("rows %v: what was interrupted counts, or what was done does not", rows)
		}
	})
}
