// Package enginetest is what every adapter of engine must pass.
package enginetest

import (
	"errors"
	"testing"

	"plimsoll/engine"
)

// Harness is what the suite tests an adapter with: a real server, and the statements that only the adapter can write.
type Harness struct {
	Engine   engine.Engine
	Target   engine.Target   // its user may do everything
	Database engine.Database // what Engine opened at Target
	Texts    Texts
	Setting  Setting // only used if Database is Configurable
	Waiting  Waiting // only used if Database is InFlightCounting

	// RecordTable is the oddest name that a table may have; empty: one with spaces.
	RecordTable string
	// Allocations is how many a point select may make: those of a driver that the adapter stands on, and none of its own.
	Allocations float64
}

// Waiting is a statement that waits for as long as another session wants.
type Waiting struct {
	Hold string // makes Wait wait until the session that executed it ends
	Wait string
}

// Texts are statements on one table in the engine's own language. The table has the columns id (an integer, its key),
// n (integer), f (double precision), s (text of at least 1 MB) and b (bytes); all but id may be null.
type Texts struct {
	Create, Drop string // Drop is fine without the table
	Insert       string // parameters id, n, f, s, b
	Select       string // n, f, s, b of the row with the parameter id
	All          string // id of every row; no parameters
	Missing      string // reads a table that is not there
	Duplicate    string // cannot be, for a row of id 1 is there; empty if the engine overwrites it instead
}

// Setting is one that can be changed at any time, and how to get it wrong. Without a Value every change takes a restart.
type Setting struct {
	Name, Value string
	Same        string // Value, written in another way
	Other       string // another value
	Typo        string // no setting, but close to Name
	Fixed       string // a setting that only a restart changes
	FixedValue  string
}

// Run holds an adapter to its contract. The optional interfaces that it has are part of that.
func Run(t *testing.T, h Harness) {
	run(t, h, append([]part{
		{"Values", testValues},
		{"ResultIsReused", testResultIsReused},
		{"Texts", testTexts},
		{"SideBySide", testSideBySide},
	}, common...))
}

// RunRequests holds an adapter to that part of the contract that does not need rows and columns: its results are answers of one
// value, or none.
func RunRequests(t *testing.T, h Harness) { run(t, h, common) }

type part struct {
	name string
	test func(*testing.T, Harness)
}

var common = []part{
	{"Allocations", testAllocations},
	{"Close", testClose},
	{"ErrorClasses", testErrorClasses},
	{"RefusedConnections", testRefusedConnections},
	{"Interrupt", testInterrupt},
	{"ContextEnds", testContextEnds},
	{"ConnectionLost", testConnectionLost},
	{"HostName", testHostName},
	{"Facts", testFacts},
	{"Identifiable", testIdentifiable},
	{"KeyValue", testKeyValue},
	{"Configurable", testConfigurable},
	{"Settings beforehand", testSettingsBeforehand},
	{"Namespaced", testNamespaced},
	{"Accounts", testAccounts},
	{"Metered", testMetered},
	{"Pages in memory", testInMemory},
	{"Pending work", testPendingWork},
	{"InFlightCounting", testInFlight},
}

func run(t *testing.T, h Harness, parts []part) {
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.test(t, h) })
	}
}

// open opens the database at a target that differs from the harness's.
func (h Harness) open(t *testing.T, change func(*engine.Target)) engine.Database {
	t.Helper()
	target := h.Target
	change(&target)
	db, err := h.Engine.Open(t.Context(), target)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// session opens a session that ends with the test.
func session(t *testing.T, db engine.Database) engine.Session {
	t.Helper()
	s, err := db.Session(t.Context())
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// table makes the table anew and returns a session.
func (h Harness) table(t *testing.T) engine.Session {
	t.Helper()
	s := session(t, h.Database)
	must(t, s.Exec(t.Context(), h.Texts.Drop, nil))
	must(t, s.Exec(t.Context(), h.Texts.Create, nil))
	return s
}

func prepare(t *testing.T, s engine.Session, text string) engine.Statement {
	t.Helper()
	p, err := s.Prepare(t.Context(), text)
	must(t, err)
	return p
}

// row are the parameters of Texts.Insert for a plain row.
func row(id int64) []engine.Value {
	return []engine.Value{
		engine.Int(id), engine.Int(-id), engine.Float(float64(id) / 2), engine.Chars([]byte("text")), engine.Blob([]byte{0, 255}),
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// class checks the class of an error.
func class(t *testing.T, what string, err error, want engine.Class) {
	t.Helper()
	if err == nil || engine.ClassOf(err) != want {
		t.Errorf("%s: error %v of class %s, want %s", what, err, engine.ClassOf(err), want)
	}
}

// lost tells whether an error says that the connection is gone, in the way that load and workload ask it.
func lost(err error) bool {
	var l interface{ ConnectionLost() bool }
	return errors.As(err, &l) && l.ConnectionLost()
}
