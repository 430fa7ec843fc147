package oltp

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/workload"
	"plimsoll/workload/internal/golden"
	"plimsoll/workload/internal/making"
	"plimsoll/workload/internal/recorder"
)

func of(t testing.TB, e engine.Engine, name, params string) *oltp {
	t.Helper()
	return making.Of[*oltp](t, Makers(), e, name, params)
}

// operate returns the statements of so many operations.
func operate(t testing.TB, w workload.Workload, db *recorder.Recorder, seed uint64, worker, times int) string {
	t.Helper()
	c := making.Connect(t, w, db, seed, worker)
	for range times {
		if err := c.Do(t.Context(), c.Next()); err != nil {
			t.Fatal(err)
		}
	}
	return db.Lines()
}

func TestTransactionsAreSysbenchs(t *testing.T) {
	for _, m := range Makers() {
		t.Run(m.Name, func(t *testing.T) {
			db := &recorder.Recorder{}
			golden.Check(t, m.Name+".txt", operate(t, of(t, db, m.Name, "tables: 3"), db, 7, 0, 2))
		})
	}
}

func TestTablesAreSysbenchs(t *testing.T) {
	db := &recorder.Recorder{Answer: func(text string, _ []engine.Value, _ *engine.Result) error {
		if strings.HasPrefix(text, "SELECT") {
			return &engine.Error{Kind: engine.Missing}
		}
		return nil
	}}
	w := of(t, db, "oltp_read_write", "{tables: 2, table_size: 2, table_options: ENGINE=Aria}")
	if err := w.Prepare(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "prepare.txt", sorted(db.Lines()))
}

// sorted brings inserts and indexes, which run side by side, into an order.
func sorted(lines string) string {
	var first, second []string
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		if strings.Contains(line, "sbtest2") {
			second = append(second, line)
		} else {
			first = append(first, line)
		}
	}
	return strings.Join(first, "\n") + "\n" + strings.Join(second, "\n") + "\n"
}

func TestQueriesAreCounted(t *testing.T) {
	for name, want := range map[string]float64{
		"oltp_point_select": 1, "oltp_read_only": 16, "oltp_read_write": 20, "oltp_write_only": 6, "oltp_insert": 1,
		"oltp_update_index": 1, "oltp_update_non_index": 1, "oltp_delete": 1,
	} {
		db := &recorder.Recorder{}
		w := of(t, db, name, "")
		if got := w.QueriesPerOperation()[0]; got != want {
			t.Errorf("%s says %v queries, expected %v", name, got, want)
		}
		if got := strings.Count(operate(t, w, db, 1, 0, 10), "\n"); float64(got) != 10*want {
			t.Errorf("%s asks %d queries in 10 operations, expected %v", name, got, 10*want)
		}
	}
}

func TestParametersShapeTheTransaction(t *testing.T) {
	for params, want := range map[string]string{
		"{point_selects: 0, range_selects: false, index_updates: 0, delete_inserts: 2, skip_trx: true}":                                                       "UPDATE DELETE INSERT DELETE INSERT",
		"{point_selects: 2, simple_ranges: 0, sum_ranges: 2, order_ranges: 0, distinct_ranges: 0, index_updates: 0, non_index_updates: 0, delete_inserts: 0}": "BEGIN SELECT SELECT SELECT SELECT COMMIT",
	} {
		db := &recorder.Recorder{}
		var verbs []string
		for _, line := range strings.Split(strings.TrimSpace(operate(t, of(t, db, "oltp_read_write", params), db, 1, 0, 1)), "\n") {
			verbs = append(verbs, strings.Fields(line)[0])
		}
		if got := strings.Join(verbs, " "); got != want {
			t.Errorf("%s: %s, expected %s", params, got, want)
		}
	}
}

func TestSameSeedSameOperations(t *testing.T) {
	db := &recorder.Recorder{}
	w := of(t, db, "oltp_read_write", "tables: 4")
	a := operate(t, w, db, 1, 2, 20)
	if b := operate(t, w, db, 1, 2, 20); a != b {
		t.Error("the same seed and worker asked otherwise")
	}
	if b := operate(t, w, db, 1, 3, 20); a == b {
		t.Error("two workers ask the same")
	}
	if b := operate(t, w, db, 2, 2, 20); a == b {
		t.Error("two seeds ask the same")
	}
}

func TestADeadlockedTransactionIsRetriedAsOftenAsIsWanted(t *testing.T) {
	for _, c := range []struct {
		params    string
		deadlocks int
		begun     int
		fails     bool
	}{
		{"{}", 1, 1, true},
		{"retries: 2", 2, 3, false},
		{"retries: 1", 2, 2, true},
		{"{retries: 3, skip_trx: true}", 1, 0, true}, // there is no transaction to be retried
	} {
		begun, deadlocks := 0, 0
		db := &recorder.Recorder{Answer: func(text string, _ []engine.Value, _ *engine.Result) error {
			if text == "BEGIN" {
				begun++
			}
			if strings.HasPrefix(text, "DELETE") && deadlocks < c.deadlocks {
				deadlocks++
				return &engine.Error{Kind: engine.Deadlock, Text: "deadlock"}
			}
			return nil
		}}
		client := making.Connect(t, of(t, db, "oltp_read_write", c.params), db, 1, 0)
		err := client.Do(t.Context(), client.Next())
		if (err != nil) != c.fails || begun != c.begun {
			t.Errorf("%s with %d deadlocks: begun %d times, %v", c.params, c.deadlocks, begun, err)
		}
	}
}

func TestParametersAreStrict(t *testing.T) {
	for _, c := range []struct{ name, params, want string }{
		{"oltp_insert", "point_selects: 1", `unknown key "point_selects"`},
		{"oltp_read_only", "rand_typ: uniform", `did you mean "rand_type"?`},
		{"oltp_read_only", "rand_type: unifrom", `did you mean "uniform"?`},
		{"oltp_read_only", "tables: 0", `t.yaml:1:9: 0, expected at least 1`},
		{"oltp_read_only", "{point_selects: 0, range_selects: false}", `would contain no query`},
	} {
		if _, err := making.Try(t, Makers(), &recorder.Recorder{}, c.name, c.params); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, expected %s", c.name, c.params, err, c.want)
		}
	}
}

type noSQL struct{ engine.Engine }

func (noSQL) Name() string { return "cql" }

func TestItNeedsSQL(t *testing.T) {
	if _, err := making.Try(t, Makers(), noSQL{}, "oltp_read_only", ""); err == nil || !strings.Contains(err.Error(), "oltp_read_only needs an engine that speaks SQL, cql does not") {
		t.Errorf("got %v", err)
	}
}

// tablesOf answers for tables sbtest1 and up with these highest ids.
func tablesOf(highest ...int64) *recorder.Recorder {
	return &recorder.Recorder{Answer: func(text string, _ []engine.Value, r *engine.Result) error {
		for i, id := range highest {
			if name := table(int64(i + 1)); strings.Contains(text, name+" ") || strings.HasSuffix(text, name) {
				if r != nil {
					r.Rows, r.Columns, r.Values = 1, 1, append(r.Values, engine.Int(id))
				}
				return nil
			}
		}
		return &engine.Error{Kind: engine.Missing}
	}}
}

func TestAdoptFindsNumberAndSize(t *testing.T) {
	for _, c := range []struct {
		params       string
		there        []int64
		tables, size int64
		trouble      string
	}{
		{"", []int64{500, 499, 500}, 3, 499, ""},
		{"tables: 2", []int64{500, 600, 100}, 2, 500, ""},
		{"table_size: 50", []int64{500, 600}, 2, 50, ""},
		{"tables: 3", []int64{500, 600}, 0, 0, "there is no table sbtest3"},
		{"", nil, 0, 0, "there is no table sbtest1"},
		{"", []int64{500, 0}, 0, 0, "table sbtest2 is empty"},
	} {
		db := tablesOf(c.there...)
		w := of(t, db, "oltp_read_only", c.params)
		err := w.Adopt(t.Context(), db)
		if c.trouble != "" {
			var absent *workload.AbsentError
			if !errors.As(err, &absent) || err.Error() != c.trouble {
				t.Errorf("%q on %v: %v, expected %s", c.params, c.there, err, c.trouble)
			}
			continue
		}
		if err != nil || w.Tables != c.tables || w.TableSize != c.size {
			t.Errorf("%q on %v: %d tables of %d rows, %v", c.params, c.there, w.Tables, w.TableSize, err)
		}
	}
}

func TestOperationsDoNotAllocate(t *testing.T) {
	for _, m := range Makers() {
		db := &recorder.Recorder{Mute: true}
		c := making.Connect(t, of(t, db, m.Name, "tables: 2"), db, 1, 0)
		if n := testing.AllocsPerRun(100, func() {
			if err := c.Do(t.Context(), c.Next()); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations an operation", m.Name, n)
		}
	}
}

// BenchmarkClient is what an operation costs beside its statements.
func BenchmarkClient(b *testing.B) {
	for _, name := range []string{"oltp_point_select", "oltp_read_write"} {
		b.Run(name, func(b *testing.B) {
			db := &recorder.Recorder{Mute: true}
			c := making.Connect(b, of(b, db, name, ""), db, 1, 0)
			b.ReportAllocs()
			for b.Loop() {
				_ = c.Do(b.Context(), c.Next())
			}
		})
	}
}

func Example() {
	for _, m := range Makers() {
		fmt.Println(m.Name+":", m.Summary)
	}
	// Output:
	// oltp_point_select: SELECT of a row by its key
	// oltp_read_only: transaction of 10 point selects and 4 range selects
	// oltp_read_write: transaction of 14 selects, 2 updates, a delete and an insert
	// oltp_write_only: transaction of 2 updates, a delete and an insert
	// oltp_insert: INSERT of a new row
	// oltp_update_index: UPDATE of an indexed column
	// oltp_update_non_index: UPDATE of a column without index
	// oltp_delete: DELETE of a row by its key
}
