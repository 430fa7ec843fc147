package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
)

// Reading is a workload that knows which of its Operations only read, so that replicas can answer them.
type Reading interface {
	ReadOnly() []bool
}

// Replicas says where the replicas of a cluster are, and which of them may be read.
type Replicas struct {
	// Nodes returns the cluster's servers as they are now, by any names that stay the same.
	Nodes func() []string
	// Open opens one of them as whom the load logs in.
	Open func(ctx context.Context, node string) (engine.Database, error)
	// Ask opens one of them as somebody who may see how it replicates; nil: Open does.
	Ask func(ctx context.Context, node string) (engine.Database, error)
	// MaxBehind is how old what a replica shows may be: how far it is behind its source, as the server estimates it, or was
	// when it last replicated, and the time since. 0: 5 s.
	MaxBehind time.Duration
	// Changed is told which are read from now on, none when the primary answers all; and why others are not. May be nil.
	Changed func(read []string, left map[string]error)
}

const (
	lookEvery   = time.Second
	answerTime  = time.Second // that a server may take to say how it is
	usualBehind = 5 * time.Second
)

// Readers spreads the operations that only read over the healthy replicas: those that follow a source, answer, and are not far
// behind. All are looked at once a second; one that fails a read is left at once, until then. While there is none, the
// primary answers.
type Readers struct {
	of      Replicas
	health  health
	bases   *databases               // as whom the load logs in
	healthy atomic.Pointer[[]string] // in their order by name
	told    []string                 // to Changed
	stop    context.CancelFunc
	looking sync.WaitGroup

	mu       sync.Mutex
	answered map[string]*atomic.Int64
}

// NewReaders looks at the replicas and goes on doing so until it is closed.
func NewReaders(ctx context.Context, of Replicas) *Readers {
	if of.MaxBehind == 0 {
		of.MaxBehind = usualBehind
	}
	if of.Ask == nil {
		of.Ask = of.Open
	}
	r := &Readers{
		of: of, bases: newDatabases(of.Open), answered: map[string]*atomic.Int64{},
		health: health{asked: newDatabases(of.Ask), maxBehind: of.MaxBehind, replicas: map[string]*replica{}},
	}
	r.healthy.Store(&[]string{})
	r.look(ctx)
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.looking.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.look(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return r
}

// Close ends the looking. The sessions of clients end with these.
func (r *Readers) Close() error {
	r.stop()
	r.looking.Wait()
	return errors.Join(r.bases.keep(nil), r.health.asked.keep(nil))
}

// look asks all servers how they are, and reads from those that are well.
func (r *Readers) look(ctx context.Context) {
	nodes := r.of.Nodes()
	healthy, left := r.health.examine(ctx, nodes)
	if ctx.Err() != nil {
		return
	}
	r.healthy.Store(&healthy)
	_ = r.bases.keep(nodes) // of those that went, nothing was under way
	if r.of.Changed != nil && (r.told == nil || !slices.Equal(r.told, healthy)) {
		r.told = healthy
		r.of.Changed(healthy, left)
	}
}

// place is the replica that a worker reads from; "" if there is none.
func (r *Readers) place(worker int) string {
	healthy := *r.healthy.Load()
	if len(healthy) == 0 {
		return ""
	}
	return healthy[worker%len(healthy)]
}

// suspect leaves a replica out until it is looked at again.
func (r *Readers) suspect(node string) {
	for {
		before := r.healthy.Load()
		without := slices.DeleteFunc(slices.Clone(*before), func(n string) bool { return n == node })
		if len(without) == len(*before) || r.healthy.CompareAndSwap(before, &without) {
			return
		}
	}
}

// Answered is how many reads each replica has answered so far; under "" the primary, in place of them.
func (r *Readers) Answered() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := map[string]int64{}
	for node, n := range maps.All(r.answered) {
		counts[node] = n.Load()
	}
	return counts
}

// counter counts the reads of a node.
func (r *Readers) counter(node string) *atomic.Int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered[node] == nil {
		r.answered[node] = new(atomic.Int64)
	}
	return r.answered[node]
}

// Connect makes clients of a workload whose reads the replicas answer, and whose writes the primary.
func (r *Readers) Connect(w Workload, primary engine.Database, seed uint64) (load.Connect, error) {
	reading, ok := w.(Reading)
	if !ok || !slices.Contains(reading.ReadOnly(), true) {
		return nil, fmt.Errorf("%s has no operation that only reads", w.Name())
	}
	writes, reads := w.Connect(primary, seed), reading.ReadOnly()
	return func(ctx context.Context, worker int) (load.Client, error) {
		client, err := writes(ctx, worker)
		if err != nil {
			return nil, err
		}
		return &divided{
			readers: r, workload: w, seed: seed, worker: worker, reads: reads,
			primary: client, instead: r.counter(""), active: client,
		}, nil
	}, nil
}
