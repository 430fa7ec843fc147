package cql

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// answerWithin is how long a node may take to tell something of itself when all are asked: one that hangs must not keep
// what the others say.
const answerWithin = 2 * time.Second

// everywhere asks every node that can be reached, all at once, and puts together what they say, node by node. It fails
// only if nobody answers.
func everywhere[T any](ctx context.Context, c *control, what string, ask func(ctx context.Context, s *gocql.Session, node string) ([]T, error)) ([]T, error) {
	all, err := fromAll(ctx, c, what, ask)
	if silent := (*engine.SilentError)(nil); errors.As(err, &silent) {
		err = nil
	}
	return all, err
}

// fromAll is everywhere for what must be known of every node: with a SilentError it says who did not answer.
func fromAll[T any](ctx context.Context, c *control, what string, ask func(ctx context.Context, s *gocql.Session, node string) ([]T, error)) ([]T, error) {
	addresses, err := c.addresses(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	said, failed := make([][]T, len(addresses)), make([]error, len(addresses))
	var asked sync.WaitGroup
	for i, address := range addresses {
		asked.Go(func() {
			limited, cancel := context.WithTimeout(ctx, answerWithin)
			defer cancel()
			failed[i] = c.use(limited, address, func(s *gocql.Session) error {
				var err error
				said[i], err = ask(limited, s, address)
				return err
			})
		})
	}
	asked.Wait()
	if ctx.Err() != nil {
		return nil, engine.Ended(ctx, false)
	}
	var all []T
	var silent []string
	for i := range said {
		if failed[i] != nil {
			silent = append(silent, addresses[i])
			continue
		}
		all = append(all, said[i]...)
	}
	switch len(silent) {
	case 0:
		return all, nil
	case len(addresses):
		return nil, fmt.Errorf("%s: %w", what, errors.Join(failed...))
	}
	return all, fmt.Errorf("%s: %w", what, &engine.SilentError{Nodes: silent})
}

// addresses are where the nodes of the ring take clients; without discovery those that were named.
func (c *control) addresses(ctx context.Context) ([]string, error) {
	if !c.target.discover {
		return c.target.Addresses, nil
	}
	var all []string
	err := c.use(ctx, anyNode, func(s *gocql.Session) error {
		local, err := readLocal(ctx, s)
		if err != nil {
			return err
		}
		peers, err := readPeers(ctx, s)
		for _, p := range append(peers, local) {
			all = append(all, p.address)
		}
		return err
	})
	return all, err
}
