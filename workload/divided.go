package workload

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
)

// divided is a client that reads on a replica and writes on the primary, over a connection each. When the replica that its
// worker reads from is another, it moves between two operations, so that an operation is never on two servers.
type divided struct {
	readers  *Readers
	workload Workload
	seed     uint64
	worker   int
	reads    []bool // by operation

	primary load.Client
	down    bool          // the primary's connection is lost
	instead *atomic.Int64 // reads that the primary answered
	replica load.Client   // nil: none
	node    string        // where replica is
	count   *atomic.Int64 // reads that it answered
	moves   uint64

	mu     sync.Mutex  // lets Interrupt find who is at work
	active load.Client // nil: nobody yet, while it connects
	cut    bool        // Interrupt came meanwhile
}

var _ load.Client = (*divided)(nil)

// Next draws from the primary's client alone, so that the sequence does not depend on replicas.
func (d *divided) Next() int { return d.primary.Next() }

// Do performs an operation where it belongs.
func (d *divided) Do(ctx context.Context, operation int) error {
	d.begin()
	reads := d.reads[operation]
	if reads && d.settle(ctx) {
		return d.read(ctx, operation)
	}
	if d.down {
		if err := d.restore(ctx); err != nil {
			return err
		}
	}
	d.use(d.primary)
	err := d.primary.Do(ctx, operation)
	if err == nil && reads {
		d.instead.Add(1)
	}
	d.down = err != nil && Lost(err)
	return err
}

// settle connects to the replica where the worker reads now, and tells whether there is one. When one does not let it in, it
// tries another, once.
func (d *divided) settle(ctx context.Context) bool {
	for range 2 {
		node := d.readers.place(d.worker)
		if node != "" && node == d.node {
			return true
		}
		d.leave()
		if node == "" || ctx.Err() != nil {
			return false
		}
		if err := d.move(ctx, node); err == nil {
			return true
		}
		d.readers.suspect(node)
	}
	return false
}

func (d *divided) move(ctx context.Context, node string) error {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	db, err := d.readers.bases.get(limited, node)
	if err != nil {
		return err
	}
	d.moves++
	client, err := d.workload.Connect(db, d.seed+d.moves<<40)(limited, d.worker)
	if err != nil {
		return err
	}
	d.replica, d.node, d.count = client, node, d.readers.counter(node)
	return nil
}

// leave gives the connection to a replica up.
func (d *divided) leave() {
	if d.replica == nil {
		return
	}
	_ = d.replica.Close() // nothing of it is under way
	d.replica, d.node = nil, ""
}

func (d *divided) read(ctx context.Context, operation int) error {
	d.use(d.replica)
	err := d.replica.Do(ctx, operation)
	switch {
	case err == nil:
		d.count.Add(1)
	case Lost(err):
		d.readers.suspect(d.node)
	}
	return err
}

// restore seeks the primary's connection for a while, as long as a pool would let an application wait. The worker's reads go
// on in between.
func (d *divided) restore(ctx context.Context) error {
	const atMost = time.Second
	limited, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		err := d.primary.Reconnect(limited)
		if err == nil {
			d.down = false
			return nil
		}
		pause := time.NewTimer(100*time.Millisecond + rand.N(150*time.Millisecond))
		select {
		case <-pause.C:
		case <-limited.Done():
			pause.Stop()
			return &engine.Error{Kind: engine.Unavailable, Text: "the primary: " + err.Error(), Err: err}
		}
	}
}

// Reconnect gets back what is lost. A lost replica is left: the next read finds another. A lost primary keeps nobody from
// reading as long as there is a replica.
func (d *divided) Reconnect(ctx context.Context) error {
	if d.replica != nil && d.active == d.replica {
		d.leave()
		return nil
	}
	if d.readers.place(d.worker) != "" {
		d.down = true
		return nil
	}
	err := d.primary.Reconnect(ctx)
	d.down = err != nil
	return err
}

// begin says that an operation is under way, and nobody at work yet.
func (d *divided) begin() {
	d.mu.Lock()
	d.active, d.cut = nil, false
	d.mu.Unlock()
}

// use says who is at work from now on.
func (d *divided) use(c load.Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active = c
	if d.cut {
		d.cut = false
		c.Interrupt()
	}
}

// Interrupt breaks the connection that is at work. While one is being made, which takes a second at most, it breaks that one.
func (d *divided) Interrupt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.active == nil {
		d.cut = true
		return
	}
	d.active.Interrupt()
}

// Close ends both connections.
func (d *divided) Close() error {
	d.leave()
	return d.primary.Close()
}
