package runbook

import (
	"testing"
	"time"
)

func TestTheWaitForTheNextAttemptDoublesUpToTheMost(t *testing.T) {
	for _, c := range []struct {
		backoff Backoff
		attempt int
		want    time.Duration
	}{
		{Backoff{}, 1, time.Second},
		{Backoff{}, 3, 4 * time.Second},
		{Backoff{}, 1000, time.Minute},
		{Backoff{10 * time.Second, 2 * time.Minute}, 1, 10 * time.Second},
		{Backoff{10 * time.Second, 2 * time.Minute}, 2, 20 * time.Second},
		{Backoff{10 * time.Second, 2 * time.Minute}, 4, 80 * time.Second},
		{Backoff{10 * time.Second, 2 * time.Minute}, 5, 2 * time.Minute},
		{Backoff{5 * time.Second, 5 * time.Second}, 9, 5 * time.Second},
	} {
		waits := map[time.Duration]bool{}
		for range 100 {
			d := c.backoff.Wait(c.attempt)
			waits[d] = true
			if d > c.want || d < c.want-c.want/5 {
				t.Errorf("%v after attempt %d: %s, want %s less a fifth at most", c.backoff, c.attempt, d, c.want)
			}
		}
		if len(waits) < 2 {
			t.Errorf("%v after attempt %d: runs that failed together try again together", c.backoff, c.attempt)
		}
	}
}
