package ycsb

import (
	"errors"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/workload"
)

func TestOnRealServers(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		var absent *workload.AbsentError
		if err := of(t, db.Engine, "ycsb-a", "").Adopt(t.Context(), db); !errors.As(err, &absent) {
			t.Errorf("without a table: %v", err)
		}
		w := of(t, db.Engine, "ycsb-a", "{records: 20k, fields: 4, field_length: 20}")
		if err := w.Prepare(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
		if got := labtest.Query(t, db, "SELECT COUNT(*), MIN(LENGTH(field3)), MAX(LENGTH(field0)) FROM usertable"); got[0] != "20000 20 20" {
			t.Errorf("usertable: %v", got)
		}
		rows := int64(20_000)
		for _, m := range Makers() {
			params := "{fields: 4, field_length: 20}"
			if m.Name == "kv" {
				params = "{fields: 4, field_length: 20, read: 70, insert: 20, update: 10, distribution: latest}"
			}
			w := of(t, db.Engine, m.Name, params)
			if err := w.Adopt(t.Context(), db); err != nil || w.Records != rows {
				t.Fatalf("%s adopts %d records of %d, %v", m.Name, w.Records, rows, err)
			}
			tally := labtest.Drive(t, w, db, 1, 4, 250)
			for class, n := range tally.Errors {
				if class != engine.Deadlock {
					t.Errorf("%s: %d operations ended in %s: %v", m.Name, n, class, tally.First[class])
				}
			}
			rows += int64(tally.Done["insert"])
		}
		if rows == 20_000 {
			t.Error("nothing was inserted")
		}
		if err := w.Cleanup(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if left := labtest.Query(t, db, "SHOW TABLES"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
