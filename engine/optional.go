package engine

import "context"

// Configurable is a database whose settings can be read and changed. Implemented by a Database.
type Configurable interface {
	// Setting reads the value in force. Class Missing, with the nearest name in the text, if there is none of that name.
	Setting(ctx context.Context, name string) (string, error)
	// Change sets a value without a restart. NeedsRestart tells that only a restart can.
	Change(ctx context.Context, name, value string) error
	// SameValue tells whether a value a person wrote is what the server shows: 512M and 536870912, on and 1.
	SameValue(name, wrote, shown string) bool
}

// Quiet is a database that can say whether it still works off what was asked of it before: flushes, purge,
// compaction, a replica's backlog. Implemented by a Database.
type Quiet interface {
	// Unrest returns the signals of pending work, each with the value up to which it counts as quiet.
	Unrest(ctx context.Context) ([]Pending, error)
}

// Pending is one kind of background work.
type Pending struct {
	Signal string // as in signals.csv
	Value  float64
	Calm   float64 // quiet at or below
}

// Relational is an engine that speaks SQL over tables with transactions: BEGIN, COMMIT, ROLLBACK, INSERT of many rows,
// SELECT … FOR UPDATE. Implemented by an Engine.
type Relational interface {
	// Quote writes the name of a table or column so that it is taken as a name, whatever it says.
	Quote(name string) string
}

// KeyValue is an engine that can state a table of records and its operations in its own language, for the ycsb
// workloads. Implemented by an Engine. The key is the first parameter of read, update and delete, the last of none.
type KeyValue interface {
	RecordTable(table string, fields int) RecordStatements
}

// RecordStatements are the texts for a table of records: a key (text) and fields field0 … fieldN-1 (text).
type RecordStatements struct {
	Create, Drop string
	Insert       string // key, then every field
	InsertMany   func(rows int) string
	Read         string                 // key
	Update       func(field int) string // value, key
	Scan         string                 // from key, limit
}

// Metered is a database that shows counters and gauges of its own. Implemented by a Database.
type Metered interface {
	// Readings returns what the server shows now, each always under the same name.
	Readings(ctx context.Context) ([]Reading, error)
}

// Reading is one number that a server shows.
type Reading struct {
	Signal  string // mysql.rows_read, mysql.threads_running
	Value   float64
	Counter bool // it only rises: what matters is how fast
}

// Namespaced is a database that keeps several data sets apart by name: databases, keyspaces. Implemented by a Database.
type Namespaced interface {
	// MakeNamespace makes an empty one; it is fine if it is there.
	MakeNamespace(ctx context.Context, name string) error
}
