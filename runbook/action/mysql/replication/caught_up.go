package replication

import (
	"context"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

var caughtUpAction = action.Action{
	Name: "mysql.wait-caught-up", Version: 1,
	About: "Waits until a replica has applied all that its source had when the wait began, by GTID.",
	New:   func() action.Task { return &caughtUp{} },
}

type caughtUp struct {
	Node   string `yaml:"node,required" doc:"Which replica."`
	Source string `yaml:"source" doc:"What it must have: all of this node. Default: the primary."`
}

func (w *caughtUp) Nature() action.Nature {
	return action.Nature{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (w *caughtUp) servers(ctx context.Context, on *action.Site) (replica, source *server, err error) {
	if replica, err = serverOf(ctx, on, w.Node); err != nil {
		return nil, nil, err
	}
	source, err = serverOf(ctx, on, w.Source)
	return replica, source, err
}

// Check is about this moment; what the source writes meanwhile is not counted as observed.
func (w *caughtUp) Check(ctx context.Context, on *action.Site) (action.Finding, error) {
	replica, source, err := w.servers(ctx, on)
	if err != nil {
		return action.Finding{}, err
	}
	goal, err := source.executed(ctx)
	if err != nil {
		return action.Finding{}, err
	}
	has, err := replica.executed(ctx)
	if err != nil {
		return action.Finding{}, err
	}
	left := goal.without(has).count()
	if left == 0 {
		return action.Finding{State: action.Satisfied}, nil
	}
	return action.Finding{State: action.Needed, Reason: fmt.Sprintf("%d transactions behind", left)}, nil
}

func (w *caughtUp) Act(ctx context.Context, on *action.Site, c action.Call) (action.Facts, error) {
	replica, source, err := w.servers(ctx, on)
	if err != nil {
		return nil, err
	}
	goal, err := source.executed(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := replica.reach(ctx, goal, c.Progress); err != nil {
		return nil, err
	}
	return action.Facts{"seconds": time.Since(began).Seconds()}, nil
}

// Verify is nothing more: the source may have gone on.
func (w *caughtUp) Verify(context.Context, *action.Site, action.Facts) error { return nil }

// reach waits until a server has applied a set of transactions. It ends with a refusal when what it takes from its source
// has stopped for good.
func (s *server) reach(ctx context.Context, goal gtids, tell func(float64, string)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var pace pace
	for {
		has, err := s.executed(ctx)
		if err != nil {
			return err
		}
		left := goal.without(has).count()
		if left == 0 {
			return nil
		}
		is, err := s.standing(ctx)
		if err != nil {
			return err
		}
		if err := s.stalled(is); err != nil {
			return err
		}
		tell(pace.add(time.Now(), left))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w; %s still lacks %d transactions", context.Cause(ctx), s.name(), left)
		}
	}
}

// stalled refuses to wait for a server that applies nothing.
func (s *server) stalled(is engine.Standing) error {
	if len(is.Sources) == 0 {
		return &action.Refusal{Reason: s.name() + " follows nobody: it will never have what it lacks", Advice: "mysql.replicate"}
	}
	from := is.Sources[0]
	if from.Applies {
		return nil
	}
	reason := s.name() + " does not apply what it takes"
	if from.Trouble != "" {
		reason += ": " + from.Trouble
	}
	return &action.Refusal{Reason: reason, Advice: "mend it, or START REPLICA, and resume"}
}

// pace tells how far a wait is, and how long it will still take at the pace of its last seconds.
type pace struct {
	first  int64
	points []point
}

type point struct {
	at   time.Time
	left int64
}

func (p *pace) add(at time.Time, left int64) (share float64, text string) {
	p.first = max(p.first, left)
	p.points = append(p.points, point{at, left})
	for len(p.points) > 2 && at.Sub(p.points[0].at) > 10*time.Second {
		p.points = p.points[1:]
	}
	text = fmt.Sprintf("%d transactions left", left)
	from := p.points[0]
	if done, took := from.left-left, at.Sub(from.at); done > 0 && took >= time.Second {
		text += ", " + time.Duration(float64(took)*float64(left)/float64(done)).Round(time.Second).String()
	} else if took >= 5*time.Second {
		text += ", and they do not become fewer"
	}
	return 1 - float64(left)/float64(p.first), text
}
