package probe

import (
	"context"
	"time"

	"plimsoll/series"
)

// Collect reads every probe once per interval until ctx ends and hands on what it got. A probe that fails, because its
// server is down or hangs, has no points in that interval; failed is told when that begins.
func Collect(ctx context.Context, every time.Duration, probes []Probe, points func([]series.Point), failed func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	down := make([]bool, len(probes))
	for {
		for i, p := range probes {
			reading, cancel := context.WithTimeout(ctx, every)
			got, err := p.Read(reading, time.Now())
			cancel()
			if err != nil && !down[i] && ctx.Err() == nil {
				failed(err)
			}
			down[i] = err != nil
			if len(got) > 0 {
				points(got)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
