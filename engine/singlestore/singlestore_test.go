package singlestore_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/singlestore"
	"plimsoll/engine/singlestore/singlestoretest"
)

// No SingleStore can be had here. These tests ask a stand-in that answers as SingleStore's documentation prints it: they show
// that the adapter understands such answers, not that a SingleStore gives them.

func open(t *testing.T, spec singlestoretest.Spec) (*singlestoretest.Cluster, engine.Database) {
	t.Helper()
	c := singlestoretest.New(t, spec)
	db, err := singlestore.Engine{}.Open(t.Context(), c.Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return c, db
}

func TestFactsAndSettings(t *testing.T) {
	_, db := open(t, singlestoretest.Spec{Leaves: 2, Partitions: 4})
	facts, err := db.Facts(t.Context())
	if err != nil || facts.Product != "SingleStore" || facts.Version != singlestoretest.Version || facts.Details["redundancy_level"] != "1" {
		t.Errorf("%+v, %v", facts, err)
	}
	settings := db.(engine.Configurable)
	if v, err := settings.Setting(t.Context(), "maximum_memory"); v != "14253" || err != nil {
		t.Errorf("maximum_memory is %q, %v", v, err)
	}
	if _, err := settings.Setting(t.Context(), "maximum_memroy"); engine.ClassOf(err) != engine.Missing || !strings.Contains(err.Error(), "maximum_memory") {
		t.Errorf("a setting that is not there: %v", err)
	}
}

func TestStatements(t *testing.T) {
	c, db := open(t, singlestoretest.Spec{Leaves: 1, Partitions: 1})
	s, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := engine.Result{Keep: true}
	if err := s.Exec(t.Context(), "SELECT 1", &r); err != nil || r.Rows != 1 || r.At(0, 0).Int != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := s.Exec(t.Context(), "SELECT * FROM no_such_table", nil); engine.ClassOf(err) != engine.Missing {
		t.Errorf("a table that is not there: %v", err)
	}
	p, err := s.Prepare(t.Context(), "INSERT INTO t VALUES (?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Exec(t.Context(), []engine.Value{engine.Int(1), engine.Chars([]byte("x"))}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Statements.Load(); n != 3 {
		t.Errorf("%d statements were executed", n)
	}
}

// What answers must be SingleStore, and let us in.
func TestRefusals(t *testing.T) {
	c := singlestoretest.New(t, singlestoretest.Spec{Leaves: 1, Partitions: 1})
	wrong := c.Target()
	wrong.Password = "wrong"
	if _, err := (singlestore.Engine{}).Open(t.Context(), wrong); engine.ClassOf(err) != engine.Denied {
		t.Errorf("a wrong password: %v", err)
	}
	odd := c.Target().With("tsl", "required")
	if _, err := (singlestore.Engine{}).Open(t.Context(), odd); err == nil || !strings.Contains(err.Error(), "singlestore target") {
		t.Errorf("an unknown option: %v", err)
	}
}

// A load goes to every aggregator that lets us in.
func TestSessionsAreSpreadOverAggregators(t *testing.T) {
	c := singlestoretest.New(t, singlestoretest.Spec{Leaves: 1, Partitions: 1})
	target := c.Target()
	target.Addresses = append(target.Addresses, "127.0.0.1:1") // nobody listens there
	db, err := singlestore.Engine{}.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 4 {
		s, err := db.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	}
}

func TestLayoutAndMoves(t *testing.T) {
	const pace = 20 * time.Millisecond
	c, db := open(t, singlestoretest.Spec{Leaves: 2, Copies: 2, Paired: true, Partitions: 4, Pace: pace})
	sharded := db.(engine.Sharded)
	layout, err := sharded.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, _ := layout.Leaf(singlestoretest.Leaf(1))
	if layout.Copies != 2 || !layout.Paired || len(layout.Leaves) != 4 || first.Group != 1 || first.Pair != singlestoretest.Leaf(2) || !first.Online() {
		t.Errorf("%+v", layout)
	}
	if names := layout.Databases(); len(names) != 1 || names[0] != "db" || len(layout.Partitions) != 8 {
		t.Errorf("%v, %d partitions", names, len(layout.Partitions))
	}
	for part, n := range layout.Live() {
		if n != 2 {
			t.Errorf("%v has %d copies", part, n)
		}
	}
	c.SetLeaf(singlestoretest.Leaf(2), "offline")
	if layout, err = sharded.Layout(t.Context()); err != nil || layout.Live()[engine.PartitionID{Database: "db", Ordinal: 0}] != 1 {
		t.Errorf("%v, %v", layout.Live(), err)
	}
	c.SetLeaf(singlestoretest.Leaf(2), "online")

	if planned, err := sharded.Planned(t.Context(), "db"); err != nil || len(planned) != 0 {
		t.Errorf("planned while balanced: %v, %v", planned, err)
	}
	if moves, err := sharded.Moves(t.Context()); err != nil || len(moves) != 0 {
		t.Errorf("moves while nothing moves: %v, %v", moves, err)
	}
	if _, err := sharded.Planned(t.Context(), "other"); engine.ClassOf(err) != engine.Missing {
		t.Errorf("a database that is not there: %v", err)
	}
}
