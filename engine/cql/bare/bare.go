// Package bare reads records with the Go driver as it is, and does nothing else: what Plimsoll's own reads are measured beside.
package bare

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// Reads are reads of records by their key.
type Reads struct {
	Target   engine.Target
	Keys     string // a statement that returns keys to read
	Read     string // a statement that reads one record
	Columns  int    // that Read returns, all of them texts
	InFlight int
	Length   time.Duration
}

// Outcome is what the reads came to.
type Outcome struct {
	Operations int64         `json:"operations"`
	Took       time.Duration `json:"took"`
	CPU        time.Duration `json:"cpu"` // of the process, while it read
}

// Run reads for the length, as often as it can. The driver is set as package cql sets it where that matters to its cost: two connections to
// a node, token-aware, and no coalescing of writes.
func (r Reads) Run(ctx context.Context) (Outcome, error) {
	c := gocql.NewCluster(r.Target.Addresses...)
	c.Keyspace, c.Consistency, c.NumConns = r.Target.Namespace, gocql.LocalQuorum, 2
	c.WriteCoalesceWaitTime = 0
	c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	if r.Target.User != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: r.Target.User, Password: string(r.Target.Password)}
	}
	session, err := c.CreateSession()
	if err != nil {
		return Outcome{}, fmt.Errorf("connect: %w", err)
	}
	defer session.Close()
	keys, err := r.keys(ctx, session)
	if err != nil {
		return Outcome{}, err
	}

	var done atomic.Int64
	errs := make([]error, r.InFlight)
	began, cpu := time.Now(), used()
	var wait sync.WaitGroup
	for i := range r.InFlight {
		wait.Go(func() {
			n, err := r.read(ctx, session, keys, began.Add(r.Length))
			done.Add(n)
			errs[i] = err
		})
	}
	wait.Wait()
	return Outcome{Operations: done.Load(), Took: time.Since(began), CPU: used() - cpu}, errors.Join(errs...)
}

func (r Reads) keys(ctx context.Context, session *gocql.Session) ([]string, error) {
	rows := session.Query(r.Keys).IterContext(ctx)
	var keys []string
	var key string
	for rows.Scan(&key) {
		keys = append(keys, key)
	}
	if err := rows.Close(); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	if len(keys) == 0 {
		return nil, errors.New("read keys: there are none")
	}
	return keys, nil
}

// read is one of those in flight.
func (r Reads) read(ctx context.Context, session *gocql.Session, keys []string, until time.Time) (int64, error) {
	columns := make([][]byte, r.Columns)
	dest := make([]any, len(columns))
	for i := range columns {
		dest[i] = &columns[i]
	}
	var n int64
	for time.Now().Before(until) {
		if err := session.Query(r.Read, keys[rand.IntN(len(keys))]).ScanContext(ctx, dest...); err != nil {
			return n, fmt.Errorf("read: %w", err)
		}
		n++
	}
	return n, nil
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
