package lock

import (
	"context"
	"errors"

	"plimsoll/action"
)

// Watcher is a ClusterLock that finds out, over some time, whether a claim that is to be taken from another has run out. Where it can be told at
// once it waits for nothing.
type Watcher interface {
	Watch(ctx context.Context, c action.Claim) error
}

// Watch has a cluster lock watch the claim that c is to take by force, if it does so. It comes before Claim, which waits less.
func Watch(ctx context.Context, m ClusterLock, c action.Claim) error {
	w, can := m.(Watcher)
	if !can || !c.Break || c.Held {
		return nil
	}
	return w.Watch(ctx, c)
}

var _ Watcher = (*tidied)(nil)

// Watch implements Watcher. The claim of a run that has ended is not watched: it does not count.
func (m *tidied) Watch(ctx context.Context, c action.Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if looker, can := m.ClusterLock.(Looker); can {
		limited, cancel := context.WithTimeout(ctx, LongPatience)
		var claimed *action.ClaimedError
		if errors.As(looker.Look(limited, c.Cluster), &claimed) && claimed.Run != "" && m.locks.ended(ctx, claimed.Run) {
			m.past = claimed.Run
		}
		cancel()
	}
	c.Past = m.past
	return Watch(ctx, m.ClusterLock, c)
}
