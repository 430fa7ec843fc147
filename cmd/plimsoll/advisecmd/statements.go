package advisecmd

import (
	"context"
	"fmt"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/reads"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// following is a look at the statements of a server that goes on beside the look at its memory.
type following struct {
	db    engine.StatementReading // nil: it does not show its statements
	ended chan error
	look  *reads.Look
}

// followStatements begins to look at the statements of a node.
func followStatements(ctx context.Context, on *cluster.Cluster, node string, span time.Duration) (*following, error) {
	f := &following{ended: make(chan error, 1)}
	n, err := askedNode(ctx, on, node)
	if err != nil {
		return nil, err
	}
	db, err := on.Database(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	shows, ok := engine.As[engine.StatementReading](db)
	if !ok {
		f.ended <- nil
		return f, nil
	}
	f.db = shows
	go func() {
		var err error
		f.look, err = reads.Observe(ctx, shows, reads.Options{For: span, Every: 200 * time.Millisecond})
		f.ended <- err
	}()
	return f, nil
}

// statements waits for the end of the look, and says which statements make the reads that the look at the memory has seen.
func (f *following) statements(ctx context.Context, m *advise.Memory) (*advise.Statements, error) {
	err := <-f.ended
	if err == nil && f.look != nil && m != nil {
		var s *advise.Statements
		if s, err = f.look.Statements(ctx, f.db, m); err == nil {
			return s, nil
		}
	}
	if err != nil && ctx.Err() == nil { // the rest of the advice does not need them
		return &advise.Statements{Unknown: []string{fmt.Sprintf("Plimsoll could not find out which statements read from disk: %v.", err)}}, nil
	}
	return nil, err
}
