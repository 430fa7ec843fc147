package action

import (
	"context"
	"fmt"
	"time"

	"plimsoll/cluster"
)

var pauseAction = Action{
	Name: "pause", Version: 1,
	About: "Waits for a fixed time. After a crash it waits for the rest.",
	New:   func() Task { return &pause{} },
}

type pause struct {
	For time.Duration `yaml:"for,required" doc:"How long."`
}

var _ Verifier = (*pause)(nil)

func (p *pause) Traits() Traits { return Traits{Effect: None, Repeatable: true, Interruptible: true} }

func (p *pause) Check(context.Context, *cluster.Cluster) (CheckResult, error) {
	return CheckResult{State: Needed, Intended: Facts{"wait": p.For.String()}}, nil
}

func (p *pause) Act(ctx context.Context, _ *cluster.Cluster, c Call) (Facts, error) {
	left := p.For
	if !c.Since.IsZero() {
		left -= time.Since(c.Since)
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for end := time.Now().Add(left); ; {
		c.Progress(1-float64(time.Until(end))/float64(p.For), "")
		select {
		case <-timer.C:
			return nil, nil
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("pause: %w", context.Cause(ctx))
		}
	}
}

// Verify has nothing to look at: time has passed.
func (p *pause) Verify(context.Context, *cluster.Cluster, Facts) error { return nil }
