package engine

import (
	"context"
	"strings"

	"plimsoll/infra"
)

// Configurable is a database whose settings can be read and changed. Implemented by a Database.
type Configurable interface {
	// Setting reads the value in force. Class Missing, with the nearest name in the text, if there is none of that name;
	// Unshown if there may be and the server does not tell.
	Setting(ctx context.Context, name string) (string, error)
	// Change sets a value without a restart. NeedsRestart tells that only a restart can.
	Change(ctx context.Context, name, value string) error
	// SameValue tells whether a value a person wrote is what the server shows: 512M and 536870912, on and 1.
	SameValue(name, wrote, shown string) bool
	// WhyInvalid says beforehand why a setting cannot be, with the nearest name if there is none of that name; "" if it may be: not all can be told.
	WhyInvalid(ctx context.Context, name, value string) (why string, err error)
	// Becomes tells beforehand what the server rounds a valid value to; "" where it uses the value as it is, or does not say so before.
	Becomes(ctx context.Context, name, value string) (string, error)
	// NeedsRestart tells beforehand whether only a restart changes a setting; not known where the server does not say so before
	// one is changed.
	NeedsRestart(ctx context.Context, name string) (needs, known bool, err error)
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
	// OrCount ends an INSERT of one row that, where the table has a row with this key already, adds one to a column of it instead.
	OrCount(table, column string, key ...string) string
}

// KeyValue is an engine that can state a table of records and its operations in its own language, for the ycsb
// workloads. Implemented by an Engine. The key is the first parameter of read, update and delete, the last of none.
type KeyValue interface {
	RecordTable(table string, fields int) RecordStatements
}

// RecordStatements are the texts for a table of records: a key (text) and fields field0 … fieldN-1 (text).
type RecordStatements struct {
	Create, Drop string
	Insert       string                 // key, then every field
	InsertMany   func(rows int) string  // nil: rows are inserted one by one
	Read         string                 // key
	Update       func(field int) string // value, key
	Scan         string                 // from key, limit; in the order of keys, or in one of the engine's own
}

// Metered is a database that shows counters and gauges of its own. Implemented by a Database.
type Metered interface {
	// Readings returns what the server shows now, each always under the same name.
	Readings(ctx context.Context) ([]Reading, error)
	// PendingWork returns what the server still works off of what was asked of it before (flushes, purge, compaction, a replica's
	// backlog), each with the value up to which it counts as quiet.
	PendingWork(ctx context.Context) ([]Pending, error)
}

// Instrumented is an engine that can say what its databases show. Implemented by an Engine.
type Instrumented interface {
	// Signals returns the names that Readings uses, of all versions together. One that ends in .* stands for a name of
	// which the servers themselves choose the rest.
	Signals() []string
}

// NamesSignal tells whether a name of Signals stands for a signal.
func NamesSignal(name, signal string) bool {
	family, open := strings.CutSuffix(name, ".*")
	if !open {
		return name == signal
	}
	rest, within := strings.CutPrefix(signal, family+".")
	return within && rest != ""
}

// Reading is one number that a server shows.
type Reading struct {
	Signal  string // mysql.rows_read, mysql.threads_running
	Value   float64
	Counter bool // it only rises: what matters is how fast
	// Of is, of a counter that counts a part, the counter of the whole: what matters is the share of what came since the
	// last reading. 0: it is no part.
	Of float64
}

// InFlightCounting is a database that can count the statements that it is executing. Implemented by a Database.
type InFlightCounting interface {
	// Executing counts the statements under way, of all sessions but the asking one, whose text begins with a prefix.
	Executing(ctx context.Context, prefix string) (int, error)
}

// SyntaxChecking is a database that can tell that it does not understand a statement, without executing it. Implemented by a Database.
type SyntaxChecking interface {
	// CheckSyntax returns the server's error about the syntax of a statement; nil for one that it understands, or cannot be asked about.
	CheckSyntax(ctx context.Context, statement string) error
}

// TransactionListing is a database that can say who keeps transactions open. Implemented by a Database.
type TransactionListing interface {
	// OpenTransactions lists the oldest open transactions of other sessions, the oldest first, each in words: whose it is, and for how long.
	OpenTransactions(ctx context.Context) ([]string, error)
}

// Avoiding is a database of several servers that sends statements to others than those that hang. Implemented by a Database.
type Avoiding interface {
	Avoids() []string // addresses; none if all answer, or nothing was asked
}

// SingleNodeTargeter is an engine whose targets name some servers of a cluster and reach all of it. Implemented by an Engine.
type SingleNodeTargeter interface {
	// Alone returns a target that reaches the named servers and no others.
	Alone(t Target) Target
}

// Alone is a target of an engine that reaches the named servers and no others.
func Alone(e Engine, t Target) Target {
	if l, ok := e.(SingleNodeTargeter); ok {
		return l.Alone(t)
	}
	return t
}

// Namespaced is a database that keeps several data sets apart by name (databases, keyspaces), and has users. Implemented by a Database.
type Namespaced interface {
	// MakeNamespace makes an empty one; it is fine if it is there.
	MakeNamespace(ctx context.Context, name string) error
	// MakeAccount makes a user who may do everything in a namespace and nothing else, as an application's may; it is fine if
	// the user is there, whose password then stays.
	MakeAccount(ctx context.Context, user string, password Secret, namespace string) error
}

// Consistent is an engine of which every statement asks for as many replicas as it wants: by the option consistency of its
// targets. Implemented by an Engine.
type Consistent interface {
	Consistencies() []string // that there are, by name
}

// Dialer is an engine that opens a single connection to a server and keeps none beside it. Implemented by an Engine.
type Dialer interface {
	// Dial opens a session at the target's first address, whatever part that server plays.
	Dial(ctx context.Context, t Target) (Session, error)
}

// Tabular is a session that tells the names of the columns that a text returned. Implemented by a Session.
type Tabular interface {
	// Table runs a text for its rows by the names of their columns; NULL is left out.
	Table(ctx context.Context, text string) ([]map[string]string, error)
}

// ColumnNamer is a session that tells in which order the columns of its last Table stood. Implemented by a Session.
type ColumnNamer interface {
	Columns() []string // each name once: a further "id" is "id 2"
}

// ReadOnlyCapable is a database whose server itself refuses what a session would write. Implemented by a Database.
type ReadOnlyCapable interface {
	// ReadOnlySession opens a session that changes no table, whatever it calls. What is no change to a table it does not refuse: a file
	// that is written, a lock that is taken.
	ReadOnlySession(ctx context.Context) (Session, error)
}

// Requesting is an engine whose statements are requests over HTTP. Implemented by an Engine.
type Requesting interface {
	// Request writes a request as the text of a statement.
	Request(r Request) string
}

// Request is one over HTTP. In every text a ? is a parameter and ?? a question mark.
type Request struct {
	Method   string
	Path     string // below the target's own, from / on, with the query
	Statuses []int  // that count as success; none: 200 to 299
	Headers  []Header
	Body     string
}

// Header is one line of a request's head.
type Header struct{ Name, Value string }

// Administered is an engine of which some orders are given by a tool of its own, such as nodetool, for which its protocol has no
// words. Implemented by an Engine.
type Administered interface {
	// Tool is the command that has the tool do something with what is at a target. A password stands in its environment, never
	// among its arguments.
	Tool(t Target, args ...string) infra.Command
}

// Identifiable is a database that can say which server it is, by whatever address it is reached. Implemented by a Database.
type Identifiable interface {
	// Identity is what the server at the target's first address shares with no other, in words for people.
	Identity(ctx context.Context) (string, error)
}
