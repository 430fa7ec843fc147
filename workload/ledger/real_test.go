package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/internal/document"
	"plimsoll/internal/labtest"
	"plimsoll/workload"
	"plimsoll/workload/ledger"
)

// keyed is the engine as one that only keeps records by key.
type keyed struct{ engine.Engine }

func (keyed) RecordTable(table string, fields int) engine.RecordStatements {
	return mysql.Engine{}.RecordTable(table, fields)
}

func parameters(t *testing.T, text string) *document.Node {
	t.Helper()
	n, err := document.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// begin makes a ledger on a server and begins it.
func begin(t *testing.T, db labtest.Server, e engine.Engine, text string) workload.Workload {
	t.Helper()
	w, err := ledger.Makers()[0].New(parameters(t, text), e)
	if err == nil {
		err = w.Prepare(t.Context(), db, nil)
	}
	if err == nil {
		err = w.Adopt(t.Context(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Cleanup(context.WithoutCancel(t.Context()), db); err != nil {
			t.Error(err)
		}
	})
	return w
}

func audit(t *testing.T, w workload.Workload, db engine.Database) *workload.Audit {
	t.Helper()
	var done, total int64
	a, err := w.(workload.Audited).Audit(t.Context(), db, func(d, of int64, _ string) { done, total = d, of })
	if err != nil {
		t.Fatal(err)
	}
	if done != total || total != a.Acknowledged+a.InDoubt {
		t.Errorf("told of %d of %d, for %d acknowledged and %d in doubt", done, total, a.Acknowledged, a.InDoubt)
	}
	return a
}

func verdict(a *workload.Audit) string {
	return fmt.Sprintf("%d lost, %d duplicated, %d stale, %d corrupt", len(a.Lost), len(a.Duplicated), len(a.Stale), len(a.Corrupt))
}

// What is done to the rows behind its back, the audit finds, and nothing else.
func TestTheAuditFindsWhatIsNotAsItWasAcknowledged(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		w := begin(t, db, db.Engine, "{reads: 20, updates: 20, length: 30}")
		const workers, operations = 8, 300
		tally := labtest.Drive(t, w, db, 1, workers, operations)
		if len(tally.Errors) > 0 {
			t.Fatal(tally.First)
		}
		a := audit(t, w, db)
		if verdict(a) != "0 lost, 0 duplicated, 0 stale, 0 corrupt" || a.Acknowledged != int64(tally.Done["write"]) ||
			a.InDoubt != 0 || a.Reads != int64(tally.Done["read"]) {
			t.Errorf("%s of %+v, after %v", verdict(a), a, tally.Done)
		}

		labtest.Ask(t, db,
			"DELETE FROM plimsoll_ledger WHERE worker = 2 AND number IN (3, 5, 7)",
			"DELETE FROM plimsoll_ledger WHERE worker = 3 AND number = -1", // a register
			"INSERT INTO plimsoll_ledger SELECT run, worker, number, version, 1, content FROM plimsoll_ledger l WHERE worker = 4 AND number < 4 AND number >= 0 ON DUPLICATE KEY UPDATE copies = plimsoll_ledger.copies + 1",
			"UPDATE plimsoll_ledger SET content = REPLACE(content, ' ', '  ') WHERE worker = 5 AND number IN (8, 9)",
			"UPDATE plimsoll_ledger p JOIN (SELECT run, content FROM plimsoll_ledger WHERE worker = 6 AND number = 0) o USING (run) SET p.content = o.content WHERE p.worker = 6 AND p.number = 1",
		)
		a = audit(t, w, db)
		if verdict(a) != "4 lost, 4 duplicated, 0 stale, 3 corrupt" {
			t.Error(verdict(a))
		}
		if a.Lost[0] > a.Lost[3] || a.Time(a.Lost[0]).Before(a.Begun) {
			t.Errorf("lost at %v", a.Lost)
		}
		if err := w.Adopt(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if a := audit(t, w, db); a.Acknowledged != 0 || verdict(a) != "0 lost, 0 duplicated, 0 stale, 0 corrupt" {
			t.Errorf("a new ledger begins with %+v", a)
		}
	})
}

// By key it finds the same, but for duplicates, which cannot be.
func TestALedgerByKey(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real server")
	}
	db := labtest.Up(t, "mariadb")
	w := begin(t, db, keyed{db.Engine}, "{reads: 20, updates: 20}")
	if tally := labtest.Drive(t, w, db, 1, 4, 150); len(tally.Errors) > 0 {
		t.Fatal(tally.First)
	}
	if a := audit(t, w, db); verdict(a) != "0 lost, 0 duplicated, 0 stale, 0 corrupt" || a.Acknowledged < 300 || a.Reads == 0 {
		t.Errorf("%s of %+v", verdict(a), a)
	}
	labtest.Ask(t, db, "DELETE FROM plimsoll_ledger WHERE ycsb_key LIKE '%-2-3'", "UPDATE plimsoll_ledger SET field0 = 'x' WHERE ycsb_key LIKE '%-1-4'")
	if a := audit(t, w, db); verdict(a) != "1 lost, 0 duplicated, 0 stale, 1 corrupt" {
		t.Error(verdict(a))
	}
}

// Reads during the load see that something is older than it was acknowledged; what is there again at the end was stale, and
// what is not is lost. A write whose answer never came is neither lost nor made up.
func TestReadsFindWhatIsStale(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real server")
	}
	db := labtest.Up(t, "mariadb")
	w := begin(t, db, db.Engine, "{reads: 50, updates: 30}")
	connect := w.Connect(db, 1)
	client, err := connect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	do := func(kind, times int) {
		t.Helper()
		for range times {
			if err := client.Do(t.Context(), kind); err != nil {
				t.Fatal(err)
			}
		}
	}
	const write, update, read = 0, 1, 2
	do(write, 3)
	do(update, 5)
	labtest.Ask(t, db, "CREATE TABLE aside AS SELECT * FROM plimsoll_ledger")
	do(update, 2)
	labtest.Ask(t, db, "DELETE FROM plimsoll_ledger", "INSERT INTO plimsoll_ledger SELECT * FROM aside WHERE number = -1")
	do(read, 40) // of rows that are not there, and of a register as it was
	labtest.Ask(t, db, "REPLACE INTO plimsoll_ledger SELECT * FROM aside WHERE number <> 1")

	client.Interrupt()
	if err := client.Do(t.Context(), write); !workload.Lost(err) {
		t.Fatalf("after an interrupt: %v", err)
	}
	a := audit(t, w, db)
	if len(a.Lost) != 2 || len(a.Stale) < 20 || len(a.Stale) > 40 || a.InDoubt != 1 || a.Found != 0 || a.Acknowledged != 3 || len(a.Corrupt) != 0 {
		t.Errorf("%s of %+v", verdict(a), a)
	}
}

func TestTheLedgerRefusesWhatIsNoLedger(t *testing.T) {
	_, err := ledger.Makers()[0].New(parameters(t, "{reads: 60, updates: 40}"), mysql.Engine{})
	var ps document.Problems
	if !errors.As(err, &ps) {
		t.Errorf("got %v", err)
	}
	if _, err := ledger.Makers()[0].New(nil, neither{}); err == nil {
		t.Error("an engine without rows was taken")
	}
}

// neither is an engine that has no SQL and no keys.
type neither struct{ engine.Engine }

func (neither) Name() string { return "neither" }
