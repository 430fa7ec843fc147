// Package pace holds requests back as a cloud's volume does: so many a second, so many bytes a second, and for some kinds faster for
// as long as a bucket of credits lasts.
package pace

import (
	"context"
	"errors"
	"sync"
	"time"

	"plimsoll/watch/storage"
)

// Limits are those of a volume. The zero value has none.
type Limits struct {
	IOPS       float64       `json:"iops,omitempty"`       // requests per second; 0: no limit
	Throughput float64       `json:"throughput,omitempty"` // bytes per second; 0: no limit
	Latency    time.Duration `json:"latency,omitempty"`    // of every request, as well
	Burst      Burst         `json:"burst,omitzero"`
}

// Burst is a bucket of requests that may be made faster than Limits.IOPS, which fills it again.
type Burst struct {
	IOPS    float64 `json:"iops,omitempty"`    // at most, while there are credits
	Credits float64 `json:"credits,omitempty"` // requests that fit into the bucket, which is full to begin with
}

// Of are the limits of a cloud's volume.
func Of(v storage.Volume) Limits {
	l := Limits{IOPS: v.Base(), Throughput: v.Throughput(), Latency: v.Latency()}
	if b := v.Bucket(); b.Size > 0 {
		l.Burst = Burst{IOPS: v.Burst(), Credits: b.Size}
	}
	return l
}

// Scaled are limits of a smaller world in the same time: a bucket that would last an hour lasts an hour.
func (l Limits) Scaled(by float64) Limits {
	l.IOPS, l.Throughput = l.IOPS*by, l.Throughput*by
	l.Burst.IOPS, l.Burst.Credits = l.Burst.IOPS*by, l.Burst.Credits*by
	return l
}

// Validate says what cannot be.
func (l Limits) Validate() error {
	switch {
	case l.IOPS < 0, l.Throughput < 0, l.Latency < 0, l.Burst.IOPS < 0, l.Burst.Credits < 0:
		return errors.New("a negative limit")
	case l.Burst != Burst{} && (l.IOPS == 0 || l.Burst.IOPS <= l.IOPS):
		return errors.New("a burst that is not faster than the limit itself")
	}
	return nil
}

// unit is how much one request may carry; a larger one counts as several.
const unit = 256 << 10

// slack is how far requests may come before their time, so that those which come in bunches are not slower than allowed.
const slack = 50 * time.Millisecond

// Pacer holds requests to limits. It is safe for concurrent use; requests go in the order in which they come.
type Pacer struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu       sync.Mutex
	limits   Limits
	requests time.Time // when the next request is due
	bytes    time.Time // when the next byte is due
	credits  float64   // below zero: as many requests wait for it
	counted  time.Time // when the credits were
}

// New holds to limits by the system's clock.
func New(l Limits) *Pacer { return NewAt(l, time.Now, sleep) }

// NewAt holds to limits by another clock.
func NewAt(l Limits, now func() time.Time, sleep func(context.Context, time.Duration) error) *Pacer {
	p := &Pacer{now: now, sleep: sleep}
	p.Set(l)
	return p
}

// Set gives other limits, with a full bucket.
func (p *Pacer) Set(l Limits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.now()
	p.limits, p.requests, p.bytes, p.credits, p.counted = l, at, at, l.Burst.Credits, at
}

// Limits are those that hold now.
func (p *Pacer) Limits() Limits {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limits
}

// Credits is how many requests are left in the bucket.
func (p *Pacer) Credits() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refill(p.now())
	return max(p.credits, 0)
}

// SetCredits fills the bucket so far, for a volume that has been at work.
func (p *Pacer) SetCredits(n float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refill(p.now())
	p.credits = min(max(n, 0), p.limits.Burst.Credits)
}

// Wait returns when a request of so many bytes may be answered.
func (p *Pacer) Wait(ctx context.Context, bytes int) error {
	delay := p.delay(bytes)
	if delay <= 0 {
		return ctx.Err()
	}
	return p.sleep(ctx, delay)
}

// delay takes a request's turn and returns how far off it is.
func (p *Pacer) delay(bytes int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	due := now
	if p.limits.IOPS > 0 {
		n := float64(max(1, (bytes+unit-1)/unit))
		p.requests = later(p.requests, now.Add(-slack)).Add(seconds(n / max(p.limits.IOPS, p.limits.Burst.IOPS)))
		due = later(due, p.requests)
		if p.limits.Burst != (Burst{}) { // every request costs a credit; what the bucket does not hold must flow into it first
			p.refill(now)
			p.credits -= n
			due = later(due, now.Add(seconds(-p.credits/p.limits.IOPS)))
		}
	}
	if p.limits.Throughput > 0 {
		p.bytes = later(p.bytes, now.Add(-slack)).Add(seconds(float64(bytes) / p.limits.Throughput))
		due = later(due, p.bytes)
	}
	return due.Sub(now) + p.limits.Latency
}

func (p *Pacer) refill(now time.Time) {
	p.credits = min(p.credits+now.Sub(p.counted).Seconds()*p.limits.IOPS, p.limits.Burst.Credits)
	p.counted = now
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
