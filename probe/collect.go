package probe

import (
	"context"
	"sync"
	"time"

	"plimsoll/series"
)

// Collect reads every probe once per interval, each on its own so that a node that hangs holds up no other, until ctx
// ends, and hands on what it got, one call at a time. A probe that fails, because its server is down or hangs, has no
// points in that interval; failed is told when that begins.
func Collect(ctx context.Context, every time.Duration, probes []Probe, points func([]series.Point), failed func(error)) {
	var one sync.Mutex
	var all sync.WaitGroup
	for _, p := range probes {
		all.Go(func() {
			follow(ctx, every, p, func(got []series.Point, err error) {
				one.Lock()
				defer one.Unlock()
				if err != nil {
					failed(err)
					return
				}
				points(got)
			})
		})
	}
	all.Wait()
}

func follow(ctx context.Context, every time.Duration, p Probe, tell func([]series.Point, error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	down := false
	for ctx.Err() == nil {
		reading, cancel := context.WithTimeout(ctx, every)
		got, err := p.Read(reading, time.Now())
		cancel()
		if ctx.Err() == nil && (err == nil && len(got) > 0 || err != nil && !down) {
			tell(got, err)
		}
		down = err != nil
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
