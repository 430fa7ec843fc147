package lookaside_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/workload/lookaside"
)

// A real Valkey in front of a real MariaDB.
func TestTheCacheAnswersWhatTheDatabaseDid(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	db := labtest.Up(t, "mariadb")
	labtest.Ask(t, db.Database, "CREATE TABLE users (id INT PRIMARY KEY, plan VARCHAR(8), credit DOUBLE)", "INSERT INTO users VALUES (1, 'free', NULL), (2, NULL, 2.5)")
	server, err := db.Cluster.StartCache(t.Context(), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	cache := lookaside.New(lookaside.Place{Address: server.Address, Password: server.Password}, time.Second)
	s, err := cache.Before(db.Database).Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read, err := s.Prepare(t.Context(), "SELECT id, plan, credit FROM users WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	write, err := s.Prepare(t.Context(), "UPDATE users SET plan = 'team' WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(id int64) (all []engine.Value) {
		t.Helper()
		r := engine.Result{Keep: true}
		if err := read.Exec(t.Context(), []engine.Value{engine.Int(id)}, &r); err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Values {
			v.Data = append([]byte(nil), v.Data...)
			all = append(all, v)
		}
		return all
	}
	counts := func(hits, misses int64) {
		t.Helper()
		if h, m, f := cache.Counts(); h != hits || m != misses || f != 0 {
			t.Errorf("%d hits, %d misses, %d failures, want %d and %d", h, m, f, hits, misses)
		}
	}
	first := ask(1)
	if second := ask(1); len(first) != 3 || !reflect.DeepEqual(first, second) {
		t.Errorf("the database says %v, the cache %v", first, second)
	}
	if two := ask(2); !reflect.DeepEqual(two, ask(2)) || !two[1].IsNull() {
		t.Errorf("with NULL: %v", two)
	}
	if none := ask(9); len(none) != 0 || len(ask(9)) != 0 {
		t.Errorf("of nobody: %v", none)
	}
	counts(3, 3)
	if err := read.Exec(t.Context(), []engine.Value{engine.Int(1)}, nil); err != nil { // its rows are not wanted
		t.Fatal(err)
	}
	if err := write.Exec(t.Context(), []engine.Value{engine.Int(1)}, nil); err != nil {
		t.Fatal(err)
	}
	if got := string(ask(1)[1].Data); got != "free" {
		t.Errorf("the cache is not told of writes, and says %q", got)
	}
	counts(5, 3)
	for _, text := range []string{"BEGIN", "COMMIT"} {
		if err := s.Exec(t.Context(), text, nil); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"BEGIN": "team", "COMMIT": "free"}[text] // within a transaction the database answers
		if got := string(ask(1)[1].Data); got != want {
			t.Errorf("after %s: %q, want %q", text, got, want)
		}
	}
	counts(6, 3)
	for until := time.Now().Add(5 * time.Second); string(ask(1)[1].Data) != "team"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("an answer is kept for longer than a second")
		}
	}
	if err := server.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := string(ask(1)[1].Data); got != "team" {
		t.Errorf("without a cache the database says %q", got)
	}
	if _, _, failures := cache.Counts(); failures == 0 {
		t.Error("a cache that is gone counts no failure")
	}
}
