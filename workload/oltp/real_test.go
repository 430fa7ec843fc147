package oltp

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/workload"
)

func TestOnRealServers(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		w := of(t, db.Engine, "oltp_read_write", "{tables: 3, table_size: 5000}")
		if err := w.Prepare(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
		var present *workload.PresentError
		if err := w.Prepare(t.Context(), db, nil); !errors.As(err, &present) {
			t.Errorf("a second preparation: %v", err)
		}
		for n := int64(1); n <= 3; n++ {
			got := labtest.Query(t, db, "SELECT COUNT(*), MIN(id), MAX(id), MIN(k) > 0, MAX(k) <= 5000, MIN(LENGTH(c)), MIN(LENGTH(pad)) FROM "+table(n))
			if got[0] != "5000 1 5000 1 1 119 59" {
				t.Errorf("%s: %v", table(n), got)
			}
			if index := labtest.Query(t, db, "SHOW INDEX FROM "+table(n)+" WHERE Key_name = 'k_"+strconv.FormatInt(n, 10)+"'"); len(index) != 1 {
				t.Errorf("%s: index %v", table(n), index)
			}
		}
		for _, m := range Makers() {
			w := of(t, db.Engine, m.Name, "")
			if err := w.Adopt(t.Context(), db); err != nil || w.Tables != 3 {
				t.Fatalf("%s adopts %d tables of %d rows, %v", m.Name, w.Tables, w.TableSize, err)
			}
			tally := labtest.Drive(t, w, db, 1, 4, 100)
			for class, n := range tally.Errors {
				if class != engine.Deadlock && class != engine.Duplicate || m.Name == "oltp_insert" || m.Name == "oltp_read_only" {
					t.Errorf("%s: %d operations ended in %s: %v", m.Name, n, class, tally.First[class])
				}
			}
			if done := tally.Done[w.Operations()[0]]; done < 200 {
				t.Errorf("%s: %d operations of 400 done", m.Name, done)
			}
		}
		if err := of(t, db.Engine, "oltp_insert", "").Cleanup(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if left := labtest.Query(t, db, "SHOW TABLES"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// The real sysbench and we ask the same, on tables that sysbench made.
func TestSameQueriesAsSysbench(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real server")
	}
	program, err := exec.LookPath("sysbench")
	if err != nil {
		t.Skip("sysbench is not on PATH")
	}
	db := labtest.Up(t, "mariadb")
	host, port, err := net.SplitHostPort(db.Target.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	const tables, size, events = 2, 3000, 300
	sysbench := func(workload, command string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program, workload, "--mysql-host="+host, "--mysql-port="+port, "--mysql-db=test",
			"--mysql-user="+db.Target.User, "--mysql-password="+string(db.Target.Password), "--threads=1", "--rand-seed=3",
			"--time=0", fmt.Sprintf("--events=%d", events), fmt.Sprintf("--tables=%d", tables), fmt.Sprintf("--table-size=%d", size), command).CombinedOutput()
		if err != nil {
			t.Fatalf("sysbench: %v\n%s", err, out)
		}
	}
	sysbench("oltp_read_write", "prepare")

	verbs := []string{"Com_begin", "Com_commit", "Com_delete", "Com_insert", "Com_rollback", "Com_select", "Com_update"}
	rows := []string{"Handler_read_next", "Handler_read_key", "Handler_update"}
	names := slices.Concat(verbs, rows)
	for _, m := range Makers() {
		theirs := counted(t, db, names, func() { sysbench(m.Name, "run") })
		w := of(t, db.Engine, m.Name, "")
		if err := w.Adopt(t.Context(), db); err != nil || w.Tables != tables || w.TableSize < size-1 || m.Name == "oltp_read_only" && w.TableSize != size {
			t.Fatalf("%s adopts %d tables of %d rows, %v", m.Name, w.Tables, w.TableSize, err)
		}
		ours := counted(t, db, names, func() {
			if tally := labtest.Drive(t, w, db, 1, 1, events); len(tally.Errors) > 0 {
				t.Errorf("%s: %v", m.Name, tally.First)
			}
		})
		total := 0
		for _, name := range verbs {
			if theirs[name] != ours[name] {
				t.Errorf("%s: %s: sysbench %d, we %d", m.Name, name, theirs[name], ours[name])
			}
			total += ours[name]
		}
		if want := int(w.QueriesPerOperation()[0] * events); total != want {
			t.Errorf("%s: %d queries, expected %d", m.Name, total, want)
		}
		for _, name := range rows {
			if diff := theirs[name] - ours[name]; max(diff, -diff) > 20+theirs[name]/25 {
				t.Errorf("%s: %s: sysbench %d, we %d", m.Name, name, theirs[name], ours[name])
			}
		}
	}
}

// counted is by how much counters of the server rise while f runs.
func counted(t *testing.T, db labtest.Server, names []string, f func()) map[string]int {
	before := labtest.Status(t, db, names...)
	f()
	after := labtest.Status(t, db, names...)
	for name := range after {
		after[name] -= before[name]
	}
	return after
}
