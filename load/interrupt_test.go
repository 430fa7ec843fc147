package load_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/load"
)

// touchy is a client whose operations often end just when they are given up.
type touchy struct {
	t       *testing.T
	timeout time.Duration

	mu      sync.Mutex
	started time.Time
	broken  chan struct{}
	lost    bool
}

func (c *touchy) Next() int { return 0 }

func (c *touchy) Do(context.Context, int) error {
	c.mu.Lock()
	if c.lost {
		c.t.Error("an operation was sent over a connection that had been interrupted")
	}
	c.started = time.Now()
	broken := c.broken
	c.mu.Unlock()
	select {
	case <-broken:
	case <-time.After(time.Duration(rand.IntN(8)) * 50 * time.Millisecond):
	}
	return nil
}

func (c *touchy) Reconnect(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost, c.broken = false, make(chan struct{})
	return nil
}

func (c *touchy) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := time.Since(c.started); age <= c.timeout {
		c.t.Errorf("an operation was interrupted after %v", age)
	}
	if c.lost {
		c.t.Error("a connection was interrupted twice")
	}
	c.lost = true
	close(c.broken)
}

func (c *touchy) Close() error { return nil }

// An interrupt hits the operation that hung, never the one after it.
func TestInterruptHitsItsOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 200 * time.Millisecond
		spec := load.Spec{Operations: []string{"read"}, Connections: 20, Duration: 2 * time.Minute, Timeout: timeout, Grace: time.Minute}
		out, err := load.Run(t.Context(), spec, func(ctx context.Context, _ int) (load.Client, error) {
			c := &touchy{t: t, timeout: timeout}
			return c, c.Reconnect(ctx)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e := out.All.Errors; e < 1000 || out.All.ErrorClasses[load.ClassTimeout] != e || !out.All.Balanced() {
			t.Errorf("%+v, %v", out.All.Tally, out.All.ErrorClasses)
		}
	})
}

// A reader that is slow now and then gets seconds, none the less.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := load.Spec{Operations: []string{"read"}, Connections: 2, Duration: 30 * time.Second}
		n := 0
		_, err := load.Run(t.Context(), spec, func(ctx context.Context, _ int) (load.Client, error) {
			c := &touchy{t: t, timeout: time.Hour}
			return c, c.Reconnect(ctx)
		}, func(s load.Second) {
			if n++; n == 10 {
				time.Sleep(10 * time.Second)
			}
			if n < 30 && s.Length != time.Second {
				t.Errorf("second %d took %v", n, s.Length)
			}
		})
		if err != nil || n != 30 {
			t.Errorf("%d seconds, %v", n, err)
		}
	})
}
