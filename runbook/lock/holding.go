package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook/journal"
)

// ClusterLock keeps the claim on a cluster in the cluster itself, where every Plimsoll that would change it sees it,
// whatever store it uses.
type ClusterLock interface {
	// Claim takes or prolongs a claim. *action.ClaimedError when another run has it; any other error says that it cannot be told.
	Claim(ctx context.Context, c action.Claim) error
	// Clear gives it back.
	Clear(ctx context.Context, c action.Claim) error
}

// ErrFenced says that the cluster was taken by another while this process was not looking.
var ErrFenced = errors.New("another run took the cluster")

// ErrUnsure says that it may have been: this process did not look for longer than its claim holds, and got no clear answer since.
var ErrUnsure = errors.New("this process was suspended for longer than its claim on the cluster is valid, and Plimsoll cannot find out who holds the cluster now")

// holding keeps a run's lease of one cluster alive, in the store and in the target.
type holding struct {
	store       *durable.Store
	clusterLock ClusterLock // nil: none
	ttl         time.Duration
	claim       action.Claim
	fenced      chan struct{}
	stored      atomic.Bool // the cluster has kept the claim since it was first taken: others see it

	looked atomic.Int64 // when it was last known to be ours or not to have slept, by the wall clock, in nanoseconds

	mu    sync.Mutex
	lease durable.Lease
	Asked time.Time // the cluster, last, by the wall clock: the other one stands still while a machine sleeps
	slept bool      // for longer than the claim holds, and no clear answer since
	// unsure is why the cluster's last answer left open whose it is; nil: it was clear.
	unsure error
	lost   error
	why    error // the claim could not be stored when this was tried last

	refused error // the cluster answered last that it does not prolong the claim that it has stored
}

// Hold takes the lease at a new epoch, and asks the cluster with this patience.
func Hold(ctx context.Context, s *durable.Store, m ClusterLock, c action.Claim, patience time.Duration) (*holding, error) {
	lease, err := s.Acquire(ctx, LeaseName(c.Cluster), c.Run, c.For)
	if err != nil {
		return nil, err
	}
	h := &holding{
		store: s, clusterLock: m, ttl: c.For, lease: lease, fenced: make(chan struct{}), claim: c, Asked: time.Now().Round(0),
	}
	h.claim.Epoch = lease.Epoch
	h.stored.Store(c.Stored || m == nil)
	h.awake()
	return h, h.confirmWithin(ctx, patience)
}

// How long a cluster may take to say whose it is: before a run is made and before an act, and to let its claim be removed when its run ends;
// and when a session begins, of a run that has asked and asks again before its next act.
const (
	LongPatience  = 8 * time.Second
	ShortPatience = time.Second
)

func LeaseName(cluster string) string { return "cluster " + cluster }

// Keep prolongs the lease until ctx ends or it is lost.
func (h *holding) Keep(ctx context.Context) {
	tick := time.NewTicker(h.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if errors.Is(h.Confirm(ctx), ErrFenced) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// Confirm asks both places whether the cluster is still ours, and prolongs. A target that does not answer cannot be taken by
// another either; so only a clear answer fences who has asked all the time.
func (h *holding) Confirm(ctx context.Context) error { return h.confirmWithin(ctx, LongPatience) }

// MayAct confirms before an act. Who slept, and does not know whether the target could be taken meanwhile, loses it.
func (h *holding) MayAct(ctx context.Context) error {
	if err := h.Confirm(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.slept && h.lost == nil {
		if h.unsure == nil {
			return h.lose(fmt.Errorf("%w (it keeps no claim): plimsoll runbook resume %s continues, and checks each step first", ErrUnsure, h.claim.Run))
		}
		return h.lose(fmt.Errorf("%w (%s): plimsoll runbook resume %s asks again, and says how to continue", ErrUnsure, journal.OneLine(h.unsure), h.claim.Run))
	}
	return h.lost
}

// StillOurs is asked in the middle of an act, before each thing that it changes. It costs nothing while this process is awake; one that
// was suspended for longer than its claim holds asks the cluster first, since another may have taken it meanwhile.
func (h *holding) StillOurs(ctx context.Context) error {
	if err := h.Why(); err != nil {
		return err
	}
	if !h.overslept() {
		return nil
	}
	return h.MayAct(ctx)
}

// awake notes that this process runs.
func (h *holding) awake() { h.looked.Store(time.Now().UnixNano()) }

// overslept tells whether this process may have been suspended for longer than its claim holds: it looks three times in that time.
func (h *holding) overslept() bool { return time.Since(time.Unix(0, h.looked.Load())) > h.ttl }

func (h *holding) confirmWithin(ctx context.Context, patience time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	h.slept = h.slept || h.overslept()
	defer func() {
		if h.lost == nil && !h.slept {
			h.awake()
		}
	}()
	renewing, renewed := context.WithTimeout(ctx, LongPatience)
	defer renewed()
	lease, err := h.store.Renew(renewing, h.lease, h.ttl)
	if errors.Is(err, durable.ErrFenced) {
		return h.lose(fmt.Errorf("%w: %w", ErrFenced, err))
	}
	if err != nil {
		return err // without the store nothing can be journaled either
	}
	h.lease = lease
	if h.clusterLock == nil {
		return nil
	}
	h.slept = h.slept || time.Now().Round(0).Sub(h.Asked) > h.ttl
	asking, asked := context.WithTimeout(ctx, patience)
	defer asked()
	var claimed *action.ClaimedError
	h.claim.Slept = h.slept
	err = h.clusterLock.Claim(asking, h.claim)
	if errors.As(err, &claimed) {
		return h.lose(fmt.Errorf("%w: %w", ErrFenced, err))
	}
	if err != nil && !h.claim.Stored {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if h.why = err; !noAnswer(err) { // others would never see that we are there
			return unstorable(h.claim.Cluster, err)
		}
	}
	h.unsure = err
	if h.refused = nil; err != nil && h.claim.Stored && !noAnswer(err) {
		h.refused = err
	}
	if h.Asked = time.Now().Round(0); err == nil {
		h.slept, h.claim.Break, h.claim.Held, h.claim.Stored = false, false, true, true // broken once
		h.stored.Store(true)
		if h.claim.Since.IsZero() {
			h.claim.Since = h.Asked
		}
	}
	return nil
}

// noAnswer tells whether an error says that a cluster does not answer, or not now: it is asked again.
func noAnswer(err error) bool {
	var e *engine.Error
	switch {
	case errors.Is(err, cluster.ErrNoPrimary), errors.Is(err, context.DeadlineExceeded):
		return true
	case !errors.As(err, &e):
		return false
	}
	switch e.Kind {
	case engine.Unavailable, engine.Timeout, engine.Overloaded, engine.LockTimeout, engine.Deadlock, engine.Conflict:
		return true
	}
	return e.Lost && e.Kind != engine.Denied
}

// unstorable refuses a run whose claim a cluster answers that it does not take.
func unstorable(name string, err error) error {
	advice := "let the account create, read and write the table plimsoll.claim (docs/inventory.md, what the account needs)"
	if engine.ClassOf(err) != engine.Denied {
		advice = "correct what keeps the table plimsoll.claim from being created and written (docs/inventory.md, what the account needs), and try again"
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("the claim on cluster %s cannot be stored in the cluster: %s", name, journal.OneLine(err)), Advice: advice,
	}
}

func (h *holding) lose(err error) error {
	h.lost = err
	close(h.fenced)
	return err
}

// Why says how the cluster was lost; nil while it is ours.
func (h *holding) Why() error {
	select {
	case <-h.fenced:
		return h.lost
	default:
		return nil
	}
}

// release gives the cluster back, as far as it is ours. stays is told first why the claim in the cluster stays, if it does.
func (h *holding) release(ctx context.Context, stays func(cluster string, why error) error) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clusterLock != nil && h.lost == nil {
		h.claim.Slept = h.slept || h.overslept()
		limited, cancel := context.WithTimeout(ctx, LongPatience) // the cluster may let a write wait without end
		if why := h.clusterLock.Clear(limited, h.claim); why != nil {
			err = stays(h.claim.Cluster, why)
		}
		cancel()
	}
	return errors.Join(err, h.store.Release(ctx, h.lease.Name, h.lease.Holder))
}
