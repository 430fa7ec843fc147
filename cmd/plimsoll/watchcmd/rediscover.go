package watchcmd

import (
	"context"
	"time"

	"plimsoll/inventory"
	"plimsoll/watch"
)

// FindEvery is how often a watch looks for instances that came or went.
const FindEvery = time.Minute

// Rediscover looks for instances until ctx ends: those that are new in the inventory, in labs or at AWS are read from then on. While it cannot
// be told which there are, those that were known are read on.
func (f *Finder) Rediscover(ctx context.Context, every time.Duration, follow func(context.Context, []watch.Source) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		inv, err := inventory.Open()
		var sources []watch.Source
		if err == nil {
			sources, err = f.find(ctx, inv)
		}
		if err == nil {
			err = follow(ctx, sources)
		}
		if err != nil && ctx.Err() == nil {
			f.Log.Warn("look for instances: the known ones are still read", "error", err)
		}
	}
}
