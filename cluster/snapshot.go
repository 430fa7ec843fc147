package cluster

import (
	"context"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Copyable is a server whose data can be made that of another node, as a snapshot of its volume would have it: in a lab.
type Copyable interface {
	// CopyOf is the node whose data it has; "" if it has its own.
	CopyOf(ctx context.Context) (node string, err error)
	// CopyFrom gives the server, which does not run, the data of another node as it is at one moment. The other writes
	// nothing for as long as held says.
	CopyFrom(ctx context.Context, node string) (held time.Duration, err error)
	// CopyBack gives the server, which does not run, its own data back. It is fine if it has it.
	CopyBack(ctx context.Context) error
}

// Logged is a server that says where on its machine it writes what happens to it.
type Logged interface {
	LogFile(ctx context.Context) (path string, err error)
}

func (readOnlyServer) CopyFrom(context.Context, string) (time.Duration, error) {
	return 0, fmt.Errorf("replace its data: %w", ErrReadOnly)
}

func (readOnlyServer) CopyBack(context.Context) error {
	return fmt.Errorf("replace its data: %w", ErrReadOnly)
}

// Said is the last part of what a node's server has logged since it was started last; "" when its log cannot be read from here.
func (s *Cluster) Said(ctx context.Context, node string) (string, error) {
	n, err := s.Node(ctx, node)
	if err != nil {
		return "", err
	}
	l, ok := As[Logged](n.Server)
	if !ok || n.Machine == nil {
		return "", nil
	}
	file, err := l.LogFile(ctx)
	if err != nil || file == "" {
		return "", err
	}
	const enough = 256 << 10 // bytes: a recovery says some kilobytes
	tail, err := infra.Tail(ctx, n.Machine, file, enough)
	return engine.LastLife(string(tail)), err
}
