package seed

import (
	"context"
	"sync"
	"time"
)

// bucket lets through so many bytes a second, by a rate that may change at any time.
type bucket struct {
	mu      sync.Mutex
	rate    int64
	free    time.Time // when what was let through is paid for
	changed chan struct{}
	now     func() time.Time
}

func newBucket(rate int64) *bucket {
	return &bucket{rate: rate, changed: make(chan struct{}), now: time.Now}
}

// set changes the rate; who waits, waits by the new one.
func (b *bucket) set(rate int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if debt := b.free.Sub(now); debt > 0 && b.rate > 0 && rate > 0 {
		b.free = now.Add(time.Duration(float64(debt) * float64(b.rate) / float64(rate)))
	}
	b.rate = rate
	close(b.changed)
	b.changed = make(chan struct{})
}

// burst is how many bytes may go at once: a tenth of a second's, so that a slow rate does not come in lumps.
func (b *bucket) burst() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(64<<10, b.rate/10)
}

// take waits until n bytes may go.
func (b *bucket) take(ctx context.Context, n int64) error {
	for {
		b.mu.Lock()
		now := b.now()
		wait, changed := b.free.Sub(now), b.changed
		if b.rate > 0 && wait <= 0 {
			b.free = now.Add(time.Duration(float64(n) / float64(b.rate) * float64(time.Second)))
			b.mu.Unlock()
			return nil
		}
		stopped := b.rate <= 0
		b.mu.Unlock()
		if stopped {
			select {
			case <-changed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}
