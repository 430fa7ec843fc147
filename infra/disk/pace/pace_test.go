package pace_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/infra/disk/pace"
	"plimsoll/watch/storage"
)

// rate is how many requests of a size were answered in a second, with so many waiting at a time, on average over a while.
func rate(t *testing.T, p *pace.Pacer, bytes, waiting int, d time.Duration) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	done := make(chan int)
	for range waiting {
		go func() {
			n := 0
			for p.Wait(ctx, bytes) == nil {
				n++
			}
			done <- n
		}()
	}
	all := 0
	for range waiting {
		all += <-done
	}
	return float64(all) / d.Seconds()
}

func TestRates(t *testing.T) {
	for name, c := range map[string]struct {
		limits  pace.Limits
		bytes   int
		waiting int
		want    float64
	}{
		"requests":                    {pace.Limits{IOPS: 300}, 4096, 16, 300},
		"one at a time":               {pace.Limits{IOPS: 300}, 4096, 1, 300},
		"bytes":                       {pace.Limits{Throughput: 10 << 20}, 1 << 20, 4, 10},
		"the lower of two":            {pace.Limits{IOPS: 1000, Throughput: 4 << 20}, 16 << 10, 8, 256},
		"a large one counts as four":  {pace.Limits{IOPS: 400}, 1 << 20, 8, 100},
		"latency, one at a time":      {pace.Limits{Latency: 10 * time.Millisecond}, 4096, 1, 100},
		"latency, four at a time":     {pace.Limits{Latency: 10 * time.Millisecond}, 4096, 4, 400},
		"a bucket that lasts":         {pace.Limits{IOPS: 100, Burst: pace.Burst{IOPS: 3000, Credits: 5.4e6}}, 4096, 16, 3000},
		"a bucket that lasts a third": {pace.Limits{IOPS: 100, Burst: pace.Burst{IOPS: 1000, Credits: 3000}}, 4096, 16, 400},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := rate(t, pace.New(c.limits), c.bytes, c.waiting, 10*time.Second); math.Abs(got-c.want) > 0.02*c.want+1 {
					t.Errorf("%.1f a second, want %.1f", got, c.want)
				}
			})
		})
	}
}

// An emptied bucket fills again at the volume's own rate.
func TestCredits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Of(storage.Volume{Type: "gp2", GiB: 100})) // 300 IOPS, 3,000 in a burst
		p.SetCredits(0)
		if got := rate(t, p, 4096, 16, 10*time.Second); math.Abs(got-300) > 10 {
			t.Errorf("with an empty bucket %.1f a second, want 300", got)
		}
		p.SetCredits(0)
		time.Sleep(10 * time.Second)
		if got := p.Credits(); math.Abs(got-3000) > 1 {
			t.Errorf("%.0f credits after ten idle seconds, want 3000", got)
		}
	})
}

func TestValidate(t *testing.T) {
	for _, l := range []pace.Limits{{IOPS: -1}, {Throughput: -1}, {Burst: pace.Burst{IOPS: 3000}}, {IOPS: 3000, Burst: pace.Burst{IOPS: 300}}} {
		if l.Validate() == nil {
			t.Errorf("%+v was accepted", l)
		}
	}
	for _, bytes := range []int64{1 << 30, 1 << 40, 16 << 40} {
		if err := pace.Of(storage.Volume{Type: "gp2", GiB: float64(bytes) / (1 << 30)}).Validate(); err != nil {
			t.Errorf("gp2 of %d bytes: %v", bytes, err)
		}
	}
}
