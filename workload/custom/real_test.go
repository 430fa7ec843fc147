package custom

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/workload"
)

func TestExamplesOnRealServers(t *testing.T) {
	files, err := filepath.Glob("../../examples/workloads/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "request:") {
				continue // it goes over HTTP
			}
			w := of(t, db.Engine, string(text), "scale: 0.1")
			var absent *workload.AbsentError
			if err := w.Adopt(t.Context(), db); !errors.As(err, &absent) {
				t.Errorf("%s: without tables: %v", file, err)
			}
			if err := w.Prepare(t.Context(), db, nil); err != nil {
				t.Fatal(err)
			}
			for _, table := range w.tables {
				if got := rows(t, db, table.name); got != table.rows || got == 0 {
					t.Errorf("%s: %d rows of %s, expected %d", file, got, table.name, table.rows)
				}
				if got, want := len(labtest.Query(t, db, "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = 'test' AND table_name = '"+table.name+"'")), 1+len(table.Indexes)+len(table.Unique); got != want {
					t.Errorf("%s: %d indexes of %s, expected %d", file, got, table.name, want)
				}
			}
			// Twice: the second load goes on where the first stopped adding rows.
			for range 2 {
				w = of(t, db.Engine, string(text), "")
				if err := w.Adopt(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				tally := labtest.Drive(t, w, db, 3, 4, 200)
				for class, n := range tally.Errors {
					if class != engine.Deadlock {
						t.Errorf("%s: %d operations ended in %s: %v", file, n, class, tally.First[class])
					}
				}
				if len(tally.Done) != len(w.operations) {
					t.Errorf("%s: done %v", file, tally.Done)
				}
				for _, table := range w.tables {
					if got := rows(t, db, table.name); got != table.keys.Rows() {
						t.Errorf("%s: %d rows of %s are there, %d are counted", file, got, table.name, table.keys.Rows())
					}
				}
			}
			if err := w.Cleanup(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if left := labtest.Query(t, db, "SHOW TABLES"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	})
}

func rows(t *testing.T, db engine.Database, table string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimSpace(labtest.Query(t, db, "SELECT COUNT(*) FROM "+table)[0]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Names that are words of SQL, every kind of value, nested keys, and what the database sets by itself.
func TestOddTablesOnRealServers(t *testing.T) {
	const text = `workload: odd
tables:
  order:
    rows: 300
    columns:
      key:    INT NOT NULL = sequence every 3
      select: INT NOT NULL = cycle 1..3
      made:   TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
      raw:    VARBINARY(16) NOT NULL = bytes 16
      token:  CHAR(36) NOT NULL = uuid
      mail:   VARCHAR(60) NOT NULL = pattern user{row}@example.org
      day:    DATE = date 2025-01-01..2025-01-03, null 50%
      size:   DOUBLE NOT NULL = exponential 0.001..9.999
    key: [key, select]
    indexes: [day, [select, size]]
    unique: [mail]
    options: COMMENT = 'odd'
operations:
  read:
    with: {n: uniform 1..100, m: uniform 1..3}
    run: SELECT ':n?', token FROM ` + "`order` WHERE `key` = :n AND `select` = :m" + `
`
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		w := of(t, db.Engine, text, "")
		if err := w.Prepare(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
		got := labtest.Query(t, db, "SELECT COUNT(*), COUNT(DISTINCT `key`), MAX(`key`), COUNT(DISTINCT `select`), COUNT(DISTINCT mail), "+
			"COUNT(made), COUNT(DISTINCT day), COUNT(day) BETWEEN 100 AND 200, MIN(LENGTH(raw)), MIN(size) > 0, MAX(size) < 10 FROM `order`")
		if got[0] != "300 100 100 3 300 300 3 1 16 1 1" {
			t.Errorf("got %v", got)
		}
		if err := w.Adopt(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if tally := labtest.Drive(t, w, db, 1, 2, 50); len(tally.Errors) > 0 {
			t.Error(tally.First)
		}
		if err := w.Cleanup(t.Context(), db); err != nil {
			t.Error(err)
		}
	})
}
