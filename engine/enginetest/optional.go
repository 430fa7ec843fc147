package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
)

func testFacts(t *testing.T, h Harness) {
	facts, err := h.Database.Facts(t.Context())
	must(t, err)
	if facts.Product == "" || facts.Version == "" || strings.Trim(facts.Version, "0123456789.") != "" {
		t.Errorf("product %q, version %q: want a name and a plain version", facts.Product, facts.Version)
	}
}

// testIdentifiable asks a server by two addresses which it is.
func testIdentifiable(t *testing.T, h Harness) {
	is, err := optional[engine.Identifiable](t, h.Database).Identity(t.Context())
	must(t, err)
	elsewhere := between(t, h.Target.Addresses[0]).address()
	db := h.open(t, func(t *engine.Target) { t.Addresses = []string{elsewhere} })
	again, err := optional[engine.Identifiable](t, db).Identity(t.Context())
	must(t, err)
	if is == "" || is != again {
		t.Errorf("%q, by another address %q", is, again)
	}
}

// optional returns what implements an optional interface, and skips the test if it is not implemented.
func optional[T any](t *testing.T, of any) T {
	t.Helper()
	o, ok := of.(T)
	if !ok {
		t.Skipf("%T is none", of)
	}
	return o
}

func testKeyValue(t *testing.T, h Harness) {
	const fields = 3
	table := h.RecordTable
	if table == "" {
		table = "records of conformance"
	}
	st := optional[engine.KeyValue](t, h.Engine).RecordTable(table, fields)
	s := session(t, h.Database)
	must(t, s.Exec(t.Context(), st.Drop, nil))
	must(t, s.Exec(t.Context(), st.Create, nil))
	record := func(key string) []engine.Value {
		values := []engine.Value{engine.Chars([]byte(key))}
		for field := range fields {
			values = append(values, engine.Chars(fmt.Appendf(nil, "%s's %d", key, field)))
		}
		return values
	}
	insert := prepare(t, s, st.Insert)
	must(t, insert.Exec(t.Context(), record("key0"), nil))
	var many []engine.Value
	for i := range 5 {
		one := record(fmt.Sprintf("key%d", i+1))
		many = append(many, one...)
		if st.InsertMany == nil {
			must(t, insert.Exec(t.Context(), one, nil))
		}
	}
	if st.InsertMany == nil {
		must(t, insert.Exec(t.Context(), record("key6"), nil))
	} else {
		must(t, prepare(t, s, st.InsertMany(5)).Exec(t.Context(), many, nil))
		must(t, prepare(t, s, st.InsertMany(1)).Exec(t.Context(), record("key6"), nil))
	}
	must(t, prepare(t, s, st.Update(1)).Exec(t.Context(), []engine.Value{engine.Chars([]byte("new")), engine.Chars([]byte("key3"))}, nil))

	r := engine.Result{Keep: true}
	must(t, prepare(t, s, st.Read).Exec(t.Context(), []engine.Value{engine.Chars([]byte("key3"))}, &r))
	if r.Rows != 1 || r.Columns != fields+1 {
		t.Fatalf("read %d rows of %d columns, want 1 of %d", r.Rows, r.Columns, fields+1)
	}
	for column, want := range []string{"key3", "key3's 0", "new", "key3's 2"} {
		if got := r.At(0, column); got.Kind != engine.Text || string(got.Data) != want {
			t.Errorf("column %d: %s, want the text %s", column, show(got), want)
		}
	}
	must(t, prepare(t, s, st.Scan).Exec(t.Context(), []engine.Value{engine.Chars([]byte("key2")), engine.Int(4)}, &r))
	ordered := st.InsertMany != nil // where records go one by one, their order may be the engine's own
	if r.Rows != 4 && ordered || r.Rows < 1 || r.Rows > 4 || r.Columns != fields+1 {
		t.Errorf("scanned %d rows of %d columns, want 4 of %d", r.Rows, r.Columns, fields+1)
	}
	must(t, s.Exec(t.Context(), st.Drop, nil))
	must(t, s.Exec(t.Context(), st.Drop, nil))
}

func testConfigurable(t *testing.T, h Harness) {
	db, set := optional[engine.Configurable](t, h.Database), h.Setting
	before, err := db.Setting(t.Context(), set.Name)
	must(t, err)
	if set.Value != "" {
		testChange(t, db, set, before)
	}

	_, err = db.Setting(t.Context(), set.Typo)
	for what, err := range map[string]error{"read": err, "change": db.Change(t.Context(), set.Typo, set.Value)} {
		class(t, what+" an unknown setting", err, engine.Missing)
		if err != nil && !strings.Contains(err.Error(), set.Name) {
			t.Errorf("%s %s: %v does not name %s", what, set.Typo, err, set.Name)
		}
	}
	var restart *engine.NeedsRestart
	if err := db.Change(t.Context(), set.Fixed, set.FixedValue); !errors.As(err, &restart) || restart.Setting != set.Fixed {
		t.Errorf("change %s: %v, want NeedsRestart", set.Fixed, err)
	}
}

// testChange changes a setting and changes it back.
func testChange(t *testing.T, db engine.Configurable, set Setting, before string) {
	t.Helper()
	t.Cleanup(func() {
		if err := db.Change(context.Background(), set.Name, before); err != nil {
			t.Errorf("change it back: %v", err)
		}
	})
	for _, wrote := range []string{set.Other, set.Value, set.Other, set.Same} {
		must(t, db.Change(t.Context(), set.Name, wrote))
		shown, err := db.Setting(t.Context(), set.Name)
		must(t, err)
		if !db.SameValue(set.Name, wrote, shown) {
			t.Errorf("%s: wrote %s, which is not the same as %s", set.Name, wrote, shown)
		}
		if same := wrote != set.Other; db.SameValue(set.Name, set.Value, shown) != same || db.SameValue(set.Name, set.Same, shown) != same {
			t.Errorf("%s: whether %s and %s are the same as %s should be %v", set.Name, set.Value, set.Same, shown, same)
		}
	}
}

// testSettingsBeforehand expects that a setting may be what it is, and that none can be of a name that is not there.
func testSettingsBeforehand(t *testing.T, h Harness) {
	db, set := optional[engine.Configurable](t, h.Database), h.Setting
	is, err := db.Setting(t.Context(), set.Fixed)
	must(t, err)
	for _, value := range []string{is, set.FixedValue} {
		if why, err := db.WhyInvalid(t.Context(), set.Fixed, value); err != nil || why != "" {
			t.Errorf("%s %s: %q, %v", set.Fixed, value, why, err)
		}
	}
	if why, err := db.WhyInvalid(t.Context(), set.Typo, set.FixedValue); err != nil || !strings.Contains(why, set.Name) {
		t.Errorf("%s: %q, %v; does not name %s", set.Typo, why, err, set.Name)
	}
	if why, err := db.WhyInvalid(t.Context(), set.Fixed, "no such value"); err != nil || why == "" {
		t.Errorf("%s can be no such value: %v", set.Fixed, err)
	}
}

func testNamespaced(t *testing.T, h Harness) {
	db := optional[engine.Namespaced](t, h.Database)
	h.table(t)
	for range 2 {
		must(t, db.MakeNamespace(t.Context(), "conformance_other"))
	}
	other := session(t, h.open(t, func(t *engine.Target) { t.Namespace = "conformance_other" }))
	must(t, other.Exec(t.Context(), h.Texts.Drop, nil))
	class(t, "the table of another namespace", other.Exec(t.Context(), h.Texts.All, nil), engine.Missing)
	must(t, other.Exec(t.Context(), h.Texts.Create, nil))
	must(t, prepare(t, other, h.Texts.Insert).Exec(t.Context(), row(1), nil))
	var r engine.Result
	must(t, session(t, h.Database).Exec(t.Context(), h.Texts.All, &r))
	if r.Rows != 0 {
		t.Errorf("%d rows, which are another namespace's", r.Rows)
	}

	target := h.Target
	target.Namespace = "conformance_missing"
	_, err := h.Engine.Open(t.Context(), target)
	class(t, "a namespace that is not there", err, engine.Missing)
}

func testAccounts(t *testing.T, h Harness) {
	db := optional[engine.Namespaced](t, h.Database)
	h.table(t)
	const password = "it's \"quoted\""
	for range 2 {
		must(t, db.MakeAccount(t.Context(), "application", password, h.Target.Namespace))
	}
	theirs := session(t, h.open(t, func(target *engine.Target) { target.User, target.Password = "application", password }))
	must(t, prepare(t, theirs, h.Texts.Insert).Exec(t.Context(), row(1), nil))
	other := h.Target.Namespace + "_of_others"
	must(t, db.MakeNamespace(t.Context(), other))
	target := h.Target
	target.User, target.Password, target.Namespace = "application", password, other
	foreign, err := h.Engine.Open(t.Context(), target)
	if err != nil {
		return
	}
	t.Cleanup(func() { foreign.Close() })
	// Where anybody may come in, nobody may do anything there.
	class(t, "a user in a namespace that is not theirs", session(t, foreign).Exec(t.Context(), h.Texts.Create, nil), engine.Denied)
}

func testMetered(t *testing.T, h Harness) {
	db := optional[engine.Metered](t, h.Database)
	first, err := db.Readings(t.Context())
	must(t, err)
	s := h.table(t)
	must(t, s.Exec(t.Context(), h.Texts.All, nil))
	second, err := db.Readings(t.Context())
	must(t, err)
	if len(first) == 0 || len(first) != len(second) {
		t.Errorf("%d readings, then %d", len(first), len(second))
	}
	earlier := map[string]engine.Reading{}
	for _, reading := range first {
		if _, twice := earlier[reading.Signal]; twice {
			t.Errorf("%s is shown twice", reading.Signal)
		}
		if !strings.HasPrefix(reading.Signal, h.Engine.Name()+".") {
			t.Errorf("the signal %q is not named for the engine", reading.Signal)
		}
		earlier[reading.Signal] = reading
	}
	instrumented, ok := h.Engine.(engine.Instrumented)
	if !ok {
		t.Fatal("a database that shows signals has an engine that names them: engine.Instrumented")
	}
	names := instrumented.Signals()
	rose := false
	for _, now := range second {
		if !slices.ContainsFunc(names, func(name string) bool { return engine.NamesSignal(name, now.Signal) }) {
			t.Errorf("%s is not among the signals that the engine says it has", now.Signal)
		}
		then, known := earlier[now.Signal]
		if (now.Of > 0 || then.Of > 0) && (now.Of < then.Of || now.Value > now.Of || !now.Counter) {
			t.Errorf("%+v is no part of a whole, after %+v", now, then)
		}
		if !known || then.Counter != now.Counter || math.IsNaN(now.Value) || math.IsInf(now.Value, 0) || now.Value < 0 {
			t.Errorf("%+v after %+v", now, then)
		}
		if now.Counter && now.Value < then.Value {
			t.Errorf("the counter %s fell from %v to %v", now.Signal, then.Value, now.Value)
		}
		rose = rose || now.Counter && now.Value > then.Value
	}
	if !rose {
		t.Error("no counter rose, though statements ran")
	}
}

// What was just written is in memory; what is in another namespace does not count.
func testInMemory(t *testing.T, h Harness) {
	db := optional[engine.PageCaching](t, h.Database)
	s := h.table(t)
	insert := prepare(t, s, h.Texts.Insert)
	for id := range int64(50) {
		must(t, insert.Exec(t.Context(), []engine.Value{engine.Int(id), engine.Int(1), engine.Float(1), engine.Chars(make([]byte, 5000)), engine.Blob(nil)}, nil))
	}
	pages, err := db.InMemory(t.Context(), h.Target.Namespace)
	must(t, err)
	if pages < 2 {
		t.Errorf("%d pages in memory, of a table that was just written", pages)
	}
	must(t, s.Exec(t.Context(), h.Texts.Drop, nil))
	if pages, err := db.InMemory(t.Context(), "nowhere"); err != nil || pages != 0 {
		t.Errorf("%d pages of a namespace that is not there: %v", pages, err)
	}
}

func testPendingWork(t *testing.T, h Harness) {
	db := optional[engine.Metered](t, h.Database)
	var signals string
	for round := range 3 {
		pending, err := db.PendingWork(t.Context())
		must(t, err)
		names, seen := "", map[string]bool{}
		for _, p := range pending {
			names += " " + p.Signal
			if seen[p.Signal] || !strings.HasPrefix(p.Signal, h.Engine.Name()+".") {
				t.Errorf("the signal %q comes twice or is not named for the engine", p.Signal)
			}
			seen[p.Signal] = true
			if !(p.Value >= 0) || !(p.Calm >= 0) || math.IsInf(p.Value, 0) || math.IsInf(p.Calm, 0) {
				t.Errorf("%+v: not a number to judge", p)
			}
		}
		if names == "" || round > 0 && names != signals {
			t.Errorf("signals%s after%s", names, signals)
		}
		signals = names
	}
}

// A statement under way is found by what its text begins with, whoever began it, until it ends; also when the one who began it
// is gone.
func testInFlight(t *testing.T, h Harness) {
	db := optional[engine.InFlightCounting](t, h.Database)
	const mark = "/* conformance "
	until := func(want int) {
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			n, err := db.Executing(t.Context(), mark)
			must(t, err)
			if n == want {
				return
			}
			select {
			case <-tick.C:
			case <-t.Context().Done():
				t.Fatalf("%d statements are under way, want %d", n, want)
			}
		}
	}
	until(0)
	holder, other := session(t, h.Database), session(t, h.open(t, func(*engine.Target) {}))
	must(t, holder.Exec(t.Context(), h.Waiting.Hold, nil))
	ended := make(chan error, 1)
	go func() { ended <- other.Exec(t.Context(), mark+"*/ "+h.Waiting.Wait, nil) }()
	until(1)
	must(t, holder.Close())
	must(t, <-ended)
	until(0)
}
