package aws

import (
	"context"
	"errors"
	"time"
)

// Patience is how long EC2 is waited for, and how often it is asked. What is zero has a usual value.
type Patience struct {
	Every  time.Duration // between two looks; default 2s
	Create time.Duration // until a volume is available; default 5m
	Attach time.Duration // until a volume is attached; default 5m
	Detach time.Duration // until it is detached; default 5m
	Busy   time.Duration // how long a volume may be busy before it is said; default 20s
	Modify time.Duration // until a change is in force; default 30m
	Stop   time.Duration // until an instance is stopped; default 10m
	Inside time.Duration // until a machine shows a volume that is attached; default 1m
}

func (p Patience) orDefault() Patience {
	for _, d := range []struct {
		set   *time.Duration
		usual time.Duration
	}{
		{&p.Every, 2 * time.Second}, {&p.Create, 5 * time.Minute}, {&p.Attach, 5 * time.Minute}, {&p.Detach, 5 * time.Minute},
		{&p.Busy, 20 * time.Second}, {&p.Modify, 30 * time.Minute}, {&p.Stop, 10 * time.Minute}, {&p.Inside, time.Minute},
	} {
		if *d.set == 0 {
			*d.set = d.usual
		}
	}
	return p
}

// errTooLong says that something was waited for in vain.
var errTooLong = errors.New("it takes too long")

// await looks until it is so, for limit at most.
func (p Patience) await(ctx context.Context, limit time.Duration, look func(context.Context) (bool, error)) error {
	tick := time.NewTicker(p.Every)
	defer tick.Stop()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		if done, err := look(ctx); done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return errTooLong
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
