package enginetest

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"

	"plimsoll/engine"
)

// Every kind of value comes back as it was sent, also when a column's kind changes to null and back.
func testValues(t *testing.T, h Harness) {
	s := h.table(t)
	insert, read := prepare(t, s, h.Texts.Insert), prepare(t, s, h.Texts.Select)
	rows := [][]engine.Value{
		{engine.Int(math.MaxInt64), engine.Float(math.MaxFloat64), engine.Chars([]byte("plain")), engine.Blob([]byte{0, 1, 0xfe, 0xff})},
		{{}, {}, {}, {}},
		{engine.Int(math.MinInt64), engine.Float(-1.0 / 3), engine.Chars([]byte("Größe 大きさ 🚢")), engine.Blob([]byte("'\\\x00\x1a\"`"))},
		{engine.Int(-1), engine.Float(0), engine.Chars(nil), engine.Blob(nil)},
		{engine.Int(0), {}, engine.Chars([]byte("it's a \\ and a \x00")), {}},
		{{}, engine.Float(5e-324), {}, engine.Blob(bytes.Repeat([]byte{0xfb}, 300))},
		{engine.Int(7), engine.Float(1e-7), engine.Chars(bytes.Repeat([]byte("0123456789abcdéf"), 1<<20/17)), engine.Blob(bytes.Repeat([]byte{0, 255}, 1<<19))},
		{engine.Int(8), engine.Float(8), engine.Chars([]byte("small again")), engine.Blob([]byte{8})},
	}
	for id, values := range rows {
		must(t, insert.Exec(t.Context(), append([]engine.Value{engine.Int(int64(id))}, values...), nil))
	}
	r := engine.Result{Keep: true}
	for id, values := range rows {
		must(t, read.Exec(t.Context(), []engine.Value{engine.Int(int64(id))}, &r))
		if r.Rows != 1 || r.Columns != len(values) || len(r.Values) != len(values) {
			t.Fatalf("row %d: %d rows of %d columns with %d values", id, r.Rows, r.Columns, len(r.Values))
		}
		for column, want := range values {
			got := r.At(0, column)
			if got.Kind != want.Kind || got.Int != want.Int || got.Float != want.Float || !bytes.Equal(got.Data, want.Data) {
				t.Errorf("row %d column %d: got %s, want %s", id, column, show(got), show(want))
			}
		}
	}
	if err := read.Exec(t.Context(), nil, &r); err == nil {
		t.Error("a statement ran without its parameter")
	}
	must(t, read.Exec(t.Context(), []engine.Value{engine.Int(0)}, &r))
}

// A Result holds nothing of the statement before, and counts rows that it does not keep.
func testResultIsReused(t *testing.T, h Harness) {
	s := h.table(t)
	insert, read := prepare(t, s, h.Texts.Insert), prepare(t, s, h.Texts.Select)
	var r engine.Result
	for id := range int64(3) {
		must(t, insert.Exec(t.Context(), row(id), &r))
		if r.Rows != 0 || r.Columns != 0 || len(r.Values) != 0 {
			t.Errorf("an insert returned %d rows of %d columns", r.Rows, r.Columns)
		}
	}
	r.Keep = true
	must(t, s.Exec(t.Context(), h.Texts.All, &r))
	if r.Rows != 3 || r.Columns != 1 || len(r.Values) != 3 {
		t.Errorf("kept: %d rows of %d columns, %d values", r.Rows, r.Columns, len(r.Values))
	}
	must(t, read.Exec(t.Context(), []engine.Value{engine.Int(2)}, &r))
	if r.Rows != 1 || r.At(0, 0).Int != -2 || string(r.At(0, 2).Data) != "text" {
		t.Errorf("after a longer result: %d rows, %s %s", r.Rows, show(r.At(0, 0)), show(r.At(0, 2)))
	}
	must(t, read.Exec(t.Context(), []engine.Value{engine.Int(99)}, &r))
	if r.Rows != 0 || len(r.Values) != 0 {
		t.Errorf("no such row: %d rows, %d values", r.Rows, len(r.Values))
	}
	r.Keep = false
	must(t, s.Exec(t.Context(), h.Texts.All, &r))
	if r.Rows != 3 || len(r.Values) != 0 {
		t.Errorf("not kept: %d rows, %d values, want 3 and none", r.Rows, len(r.Values))
	}
	must(t, read.Exec(t.Context(), []engine.Value{engine.Int(1)}, &r))
	if r.Rows != 1 || len(r.Values) != 0 {
		t.Errorf("not kept: %d rows, %d values, want 1 and none", r.Rows, len(r.Values))
	}
}

// Texts run with and without a Result, and an error of one spoils neither the session nor its statements.
func testTexts(t *testing.T, h Harness) {
	s := h.table(t)
	insert := prepare(t, s, h.Texts.Insert)
	must(t, insert.Exec(t.Context(), row(1), nil))
	r := engine.Result{Keep: true}
	must(t, s.Exec(t.Context(), h.Texts.All, &r))
	if r.Rows != 1 || r.At(0, 0).Kind != engine.Integer || r.At(0, 0).Int != 1 {
		t.Errorf("%d rows, want the id 1", r.Rows)
	}
	for range 3 {
		for _, text := range []string{h.Texts.Missing, "no statement of any language"} {
			if err := s.Exec(t.Context(), text, &r); err == nil || lost(err) {
				t.Errorf("%s: %v", text, err)
			} else if r.Rows != 0 || len(r.Values) != 0 {
				t.Errorf("%s left %d rows in the result", text, r.Rows)
			}
		}
		if _, err := s.Prepare(t.Context(), "no statement of any language"); err == nil || lost(err) {
			t.Errorf("prepared what is no statement: %v", err)
		}
		must(t, s.Exec(t.Context(), h.Texts.All, nil))
	}
	must(t, insert.Exec(t.Context(), row(2), nil))
	if h.Texts.Duplicate != "" {
		for id := int64(3); id < 6; id++ {
			class(t, "insert a row twice", insert.Exec(t.Context(), row(1), nil), engine.Duplicate)
			must(t, insert.Exec(t.Context(), row(id), nil))
		}
	}
}

// A point select allocates nothing of its own under a context that can end, whether its row is kept or not.
func testAllocations(t *testing.T, h Harness) {
	s := h.table(t)
	must(t, prepare(t, s, h.Texts.Insert).Exec(t.Context(), row(1), nil))
	read := prepare(t, s, h.Texts.Select)
	args := []engine.Value{engine.Int(1)}
	for _, keep := range []bool{false, true} {
		r := engine.Result{Keep: keep}
		var failed error
		got := testing.AllocsPerRun(500, func() {
			if err := read.Exec(t.Context(), args, &r); err != nil || r.Rows != 1 {
				failed = err
			}
		})
		must(t, failed)
		if got > h.Allocations {
			t.Errorf("%v allocations per call with Keep = %v, want %v", got, keep, h.Allocations)
		}
	}
}

// Sessions work side by side.
func testSideBySide(t *testing.T, h Harness) {
	const workers, each = 8, 25
	s := h.table(t)
	var all sync.WaitGroup
	for worker := range workers {
		mine := session(t, h.Database)
		insert, read := prepare(t, mine, h.Texts.Insert), prepare(t, mine, h.Texts.Select)
		all.Go(func() {
			r := engine.Result{Keep: true}
			for i := range each {
				id := int64(worker*each + i)
				if err := insert.Exec(t.Context(), row(id), nil); err != nil {
					t.Error(err)
					return
				}
				if err := read.Exec(t.Context(), []engine.Value{engine.Int(id)}, &r); err != nil || r.Rows != 1 || r.At(0, 0).Int != -id {
					t.Errorf("row %d: %d rows, %v", id, r.Rows, err)
					return
				}
			}
		})
	}
	all.Wait()
	var r engine.Result
	must(t, s.Exec(t.Context(), h.Texts.All, &r))
	if r.Rows != workers*each {
		t.Errorf("%d rows, want %d", r.Rows, workers*each)
	}
}

// What is closed says so, and closing one session or database leaves the others alone.
func testClose(t *testing.T, h Harness) {
	other := h.table(t)
	db := h.open(t, func(*engine.Target) {})
	s, err := db.Session(t.Context())
	must(t, err)
	read := prepare(t, s, h.Texts.Select)
	must(t, s.Close())
	for what, err := range map[string]error{
		"text":      s.Exec(t.Context(), h.Texts.All, nil),
		"statement": read.Exec(t.Context(), []engine.Value{engine.Int(1)}, nil),
	} {
		if !lost(err) {
			t.Errorf("a %s of a closed session: %v", what, err)
		}
	}
	must(t, db.Close())
	must(t, other.Exec(t.Context(), h.Texts.All, nil))
}

// show writes a value for a message, long ones cut.
func show(v engine.Value) string {
	switch v.Kind {
	case engine.Null:
		return "null"
	case engine.Integer:
		return fmt.Sprint("integer ", v.Int)
	case engine.Real:
		return fmt.Sprint("real ", v.Float)
	case engine.Text:
		return fmt.Sprintf("text of %d bytes %.40q", len(v.Data), v.Data)
	}
	return fmt.Sprintf("%d bytes %.40x", len(v.Data), v.Data)
}
