// Package workload says which operations run on what data in which mix, and turns them into calls on a session.
package workload

import (
	"context"

	"plimsoll/engine"
	"plimsoll/load"
)

// Workload is a set of operations on a data set of its own.
type Workload interface {
	// Name is how a user asks for it: tpcc, ycsb-a, oltp_read_write.
	Name() string
	// Operations names the kinds of operation, in the order of load.Client.Next's indexes.
	Operations() []string
	// Prepare makes the tables and loads the data. It is told how far it is; it fails if tables of that name are there.
	Prepare(ctx context.Context, db engine.Database, p Progress) error
	// Adopt looks at data that is already there (prepared before, or by another tool) and fits the workload to it. Call it
	// whenever the data may have changed behind the workload: restored, or written to by an earlier load.
	Adopt(ctx context.Context, db engine.Database) error
	// Cleanup drops what Prepare made.
	Cleanup(ctx context.Context, db engine.Database) error
	// Connect returns what makes each worker's client. Same seed, same worker, same sequence of operations.
	Connect(db engine.Database, seed uint64) load.Connect
	// QueriesPerOperation returns how many queries each of Operations makes on average, as a server counts them: BEGIN and COMMIT too.
	QueriesPerOperation() []float64
}

// Checker is a workload that can say whether its data is still consistent (tpcc).
type Checker interface {
	// Check returns an error that names the first condition that does not hold.
	Check(ctx context.Context, db engine.Database) error
}

// Progress is told how much of long work is done; total is 0 when unknown.
type Progress func(done, total int64, what string)
