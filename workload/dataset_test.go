package workload_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"plimsoll/engine"
	"plimsoll/workload"
	"plimsoll/workload/internal/recorder"
	"plimsoll/workload/random"
)

// table is a recorder that keeps what is inserted into table t (id, text of some length).
type table struct {
	recorder.Recorder
	mu     sync.Mutex
	there  bool
	rows   map[int64]string
	refuse func(text string) error
}

func newTable() *table {
	db := &table{rows: map[int64]string{}}
	db.Answer = db.answer
	return db
}

func (db *table) answer(text string, args []engine.Value, _ *engine.Result) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.refuse != nil {
		if err := db.refuse(text); err != nil {
			return err
		}
	}
	switch verb, _, _ := strings.Cut(text, " "); verb {
	case "SELECT":
		if !db.there {
			return &engine.Error{Kind: engine.Missing}
		}
	case "CREATE":
		db.there = true
	case "DROP":
		db.there, db.rows = false, map[int64]string{}
	case "INSERT":
		for i := 0; i < len(args); i += 2 {
			if _, twice := db.rows[args[i].Int]; twice {
				return &engine.Error{Kind: engine.Duplicate, Text: "duplicate"}
			}
			db.rows[args[i].Int] = string(args[i+1].Data)
		}
	}
	return nil
}

func dataSet(rows int64) workload.DataSet {
	add := func() func(int64, *rand.Rand, *workload.Rows) {
		return func(row int64, r *rand.Rand, s *workload.Rows) {
			s.Int(row)
			s.EndText(random.AppendLetters(s.Text(), r.IntN(3000), r))
		}
	}
	return workload.DataSet{
		Tables:  []string{"t"},
		Create:  []string{"CREATE TABLE t"},
		Sources: []workload.Source{workload.EachRow("t", workload.InsertInto("t", "id", "c"), rows, add)},
		Seed:    1,
	}
}

func TestEveryRowIsMadeOnceAndTheSameOnAnyNumberOfSessions(t *testing.T) {
	made := map[int]map[int64]string{}
	for _, cores := range []int{1, 3, 16} {
		db := newTable()
		before := runtime.GOMAXPROCS(cores)
		var last int64
		err := dataSet(12_345).Prepare(t.Context(), db, func(done, total int64, _ string) {
			if done < last || done > total || total != 12_345 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if len(db.rows) != 12_345 || last != 12_345 {
			t.Errorf("%d rows, %d told", len(db.rows), last)
		}
		made[cores] = db.rows
	}
	if !maps.Equal(made[1], made[16]) || !maps.Equal(made[1], made[3]) {
		t.Error("the data depends on the number of sessions")
	}
}

func TestPrepareRefusesWhatIsThere(t *testing.T) {
	db := newTable()
	if err := dataSet(10).Prepare(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	db.Lines()
	err := dataSet(10).Prepare(t.Context(), db, nil)
	var present *workload.PresentError
	if !errors.As(err, &present) || present.Hint() == "" || err.Error() != "there is a table t already" {
		t.Errorf("got %v", err)
	}
	if asked := db.Lines(); asked != "SELECT * FROM t LIMIT 1\n" {
		t.Errorf("it went on to %s", asked)
	}
}

func TestWhatFailsIsRemoved(t *testing.T) {
	full := &engine.Error{Kind: engine.Full, Code: "1114", Text: "The table 't' is full"}
	inserts := 0
	db := newTable()
	db.refuse = func(text string) error {
		if strings.HasPrefix(text, "INSERT") {
			if inserts++; inserts == 5 {
				return full
			}
		}
		return nil
	}
	err := dataSet(10_000).Prepare(t.Context(), db, nil)
	if engine.ClassOf(err) != engine.Full || err.Error() != "fill t: The table 't' is full (1114)" {
		t.Errorf("got %v", err)
	}
	if db.there {
		t.Error("the half-made table is still there")
	}
}

func TestCancelledPreparationRemovesWhatItMade(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	db := newTable()
	db.refuse = func(text string) error {
		if strings.HasPrefix(text, "INSERT") {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	if err := dataSet(100_000).Prepare(ctx, db, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if db.there {
		t.Error("the half-made table is still there")
	}
}

func TestOtherErrorsThanAbsenceAreNoAbsence(t *testing.T) {
	db := newTable()
	db.refuse = func(string) error { return &engine.Error{Kind: engine.Denied, Text: "SELECT command denied"} }
	if err := dataSet(1).Prepare(t.Context(), db, nil); engine.ClassOf(err) != engine.Denied {
		t.Errorf("got %v", err)
	}
}
