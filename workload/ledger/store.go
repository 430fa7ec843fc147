package ledger

import (
	"context"

	"plimsoll/engine"
	"plimsoll/workload"
)

// store is how an engine keeps the rows of a ledger.
type store interface {
	table() string
	schema() (create, drop string)
	// texts are the statements of a client, by the indexes below.
	texts() []string
	// The arguments of those, appended to args. What bytes they point to holds until the next call with the same scratch.
	insert(args []engine.Value, s *scratch, run int64, r row, version int64, text []byte) []engine.Value
	overwrite(args []engine.Value, s *scratch, run int64, r row, version int64, text []byte) []engine.Value
	look(args []engine.Value, s *scratch, run int64, r row) []engine.Value
	// text is the contents of the row that looking returned.
	text(r *engine.Result) []byte

	// auditing is the statement that looks at several rows, and most how many at once.
	auditing() (text string, most int64)
	// several looks at the rows of a worker from one number up to another and calls each with those that are there.
	several(ctx context.Context, c *workload.Connection, run int64, worker int, from, to int64, each func(found)) error
}

// The statements of a client.
const (
	insertText = iota
	overwriteText
	lookText
)

// found is a row that is there.
type found struct {
	number int64
	copies int64 // how often it was added
	text   []byte
}

// scratch is memory for keys.
type scratch []byte
