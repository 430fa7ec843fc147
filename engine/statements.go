package engine

import "context"

// StatementReading is a database whose server can say which statements it executes, and how. It speaks of the server at the target's
// first address. Implemented by a Database.
type StatementReading interface {
	// StatementCounts are the server's own counters of each normalized statement, since they were last reset; none where it keeps none.
	StatementCounts(ctx context.Context) ([]StatementCount, error)
	// StatementTexts are statements of others that are under way, and where the server remembers them those that ended last. Several
	// calls tell one execution several times, with the same ID.
	StatementTexts(ctx context.Context) ([]StatementText, error)
	// Explain says how the server would execute a statement, and executes nothing. A ? in it stands for a value.
	Explain(ctx context.Context, namespace, text string) ([]TableAccess, error)
	// TableShape is what is known of a table. Class Missing if there is none.
	TableShape(ctx context.Context, namespace, table string) (TableShape, error)
}

// StatementCount is what a server has counted of a normalized statement.
type StatementCount struct {
	Namespace, Digest, Text string
	Calls                   int64
	Seconds                 float64
	Examined, Sent          int64  // rows
	Sample                  string // one execution with its values; "" where the server keeps none
}

// StatementText is one execution of a statement.
type StatementText struct {
	ID, Namespace, Text string
	// Ended says that the server remembers it: such are seen as often as they are executed, those under way the more often the longer
	// they take.
	Ended bool
}

// TableAccess is how a statement reads a table.
type TableAccess struct {
	Table  string
	Access string  // in the server's words: const, ref, range, index, ALL
	Key    string  // the index; "" for none
	Rows   float64 // that the server expects to read
	Extra  string
}

// TableShape is what is known of a table.
type TableShape struct {
	Rows       int64 // as the server estimates them
	Data       int64 // bytes of the rows themselves
	IndexBytes int64
	Columns    map[string]int64    // the bytes that each takes, at the most or as its type says
	Indexes    map[string][]string // their columns, by name
	// Varying are the columns of text or bytes, whose values may be shorter than Columns says, by name.
	Varying map[string]bool
	Unique  map[string]bool // by index: it allows a value only once
}
