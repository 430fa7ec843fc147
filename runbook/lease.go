package runbook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/durable"
)

// Marker keeps the claim on a cluster in the cluster itself, where every Plimsoll that would change it sees it,
// whatever store it uses.
type Marker interface {
	// Claim takes or prolongs a claim. *ClaimedError when another run has it; any other error says that it cannot be told.
	Claim(ctx context.Context, c Claim) error
	// Clear gives it back.
	Clear(ctx context.Context, c Claim) error
}

// Claim is what stands in the target.
type Claim struct {
	Cluster string
	Run     string
	Holder  string // store and process, for people
	Epoch   int64
	For     time.Duration // from now, by the target's clock
	Break   bool          // take it from another whose claim has run out
}

// ClaimedError says who has a cluster.
type ClaimedError struct {
	Cluster, Run, Holder string
	Expired              bool
}

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("cluster %s is being changed by run %s of %s", e.Cluster, e.Run, e.Holder)
}

// Hint says what to do.
func (e *ClaimedError) Hint() string {
	if e.Expired {
		return "nobody has prolonged its claim for a while; resume or cancel it there, or take the lock with --break-lock REASON"
	}
	return "wait for it, or cancel it there"
}

// errFenced says that the cluster was taken by another while this process was not looking.
var errFenced = errors.New("the cluster was taken by another run")

// holding keeps a run's lease alive, in the store and in the target.
type holding struct {
	store  *durable.Store
	marker Marker // nil: none
	ttl    time.Duration
	claim  Claim
	fenced chan struct{}

	mu    sync.Mutex
	lease durable.Lease
	lost  error
}

// hold takes the lease at a new epoch.
func hold(ctx context.Context, s *durable.Store, m Marker, cluster, run, holder string, ttl time.Duration) (*holding, error) {
	lease, err := s.Acquire(ctx, leaseName(cluster), run, ttl)
	if err != nil {
		return nil, err
	}
	h := &holding{
		store: s, marker: m, ttl: ttl, lease: lease, fenced: make(chan struct{}),
		claim: Claim{Cluster: cluster, Run: run, Holder: holder, Epoch: lease.Epoch, For: ttl},
	}
	return h, h.confirm(ctx)
}

func leaseName(cluster string) string { return "cluster " + cluster }

// keep prolongs the lease until ctx ends or it is lost.
func (h *holding) keep(ctx context.Context) {
	tick := time.NewTicker(h.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if errors.Is(h.confirm(ctx), errFenced) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// confirm asks both places whether the cluster is still ours, and prolongs. A target that does not answer cannot be taken by
// another either; so only a clear answer fences.
func (h *holding) confirm(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	lease, err := h.store.Renew(limited, h.lease, h.ttl)
	if errors.Is(err, durable.ErrFenced) {
		return h.lose(fmt.Errorf("%w: %w", errFenced, err))
	}
	if err != nil {
		return err // without the store nothing can be journaled either
	}
	h.lease = lease
	if h.marker == nil {
		return nil
	}
	var claimed *ClaimedError
	if err := h.marker.Claim(limited, h.claim); errors.As(err, &claimed) {
		return h.lose(fmt.Errorf("%w: %w", errFenced, err))
	}
	return nil
}

func (h *holding) lose(err error) error {
	h.lost = err
	close(h.fenced)
	return err
}

// release gives the cluster back.
func (h *holding) release(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return nil
	}
	var err error
	if h.marker != nil {
		err = h.marker.Clear(ctx, h.claim)
	}
	return errors.Join(err, h.store.Release(ctx, h.lease.Name, h.lease.Holder))
}
