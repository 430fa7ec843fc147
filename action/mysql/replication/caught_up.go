package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var caughtUpAction = action.Action{
	Name: "mysql.wait-caught-up", Version: 1,
	About: "Waits until a replica has applied all transactions that its source had when the wait began, by GTID.",
	New:   func() action.Task { return &caughtUp{} },
}

type caughtUp struct {
	Node   string        `yaml:"node,required" doc:"The replica."`
	Source string        `yaml:"source" doc:"The node whose transactions it must have. Default: the primary."`
	Within time.Duration `yaml:"within" doc:"How long to wait before the step fails, whether the replica answers or not. Default: the step's timeout."`
}

func (w *caughtUp) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (w *caughtUp) servers(ctx context.Context, on *cluster.Cluster) (replica, source *server, err error) {
	if replica, err = serverOf(ctx, on, w.Node); err != nil {
		return nil, nil, err
	}
	source, err = serverOf(ctx, on, w.Source)
	return replica, source, err
}

// Check is about this moment; what the source writes meanwhile is not counted as observed.
func (w *caughtUp) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	limited, cancel := w.limit(ctx)
	defer cancel()
	found, err := w.look(limited, on)
	return found, w.late(ctx, limited, err)
}

// limit is the time that it may take.
func (w *caughtUp) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.Within <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, w.Within)
}

// late says it in place of an error that comes of the end of the time.
func (w *caughtUp) late(ctx, limited context.Context, err error) error {
	if err == nil || w.Within <= 0 || limited.Err() == nil || ctx.Err() != nil {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s has not caught up within %s: %v", w.Node, w.Within, err),
		Advice: "check that it answers and applies changes; allow it more time, or name another replica",
	}
}

func (w *caughtUp) look(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	replica, source, err := w.servers(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	goal, err := source.executed(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	has, err := replica.executed(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Satisfied}
	if left := goal.Without(has).Count(); left > 0 {
		f.State, f.Reason = action.Needed, fmt.Sprintf("%d transactions behind", left)
	} else if err := w.hasTheSame(ctx, link{replica, source}); err != nil {
		return f, err
	}
	f.Awaits, err = w.awaits(ctx, replica, source)
	return f, err
}

// awaits is, of a node that replicates from no server, an earlier step that makes it replicate: it has all at this moment, perhaps, and falls behind with the
// next write. Where a source is named, a step before has looked whether the node replicates.
func (w *caughtUp) awaits(ctx context.Context, replica, source *server) ([]action.Awaits, error) {
	is, err := replica.status(ctx)
	if err != nil || w.Source != "" || len(is.Sources) > 0 || replica.name() == source.name() {
		return nil, err
	}
	return []action.Awaits{{Any: []string{replicationOf(replica.name())}, Refusal: whyStalled(replica, is)}}, nil
}

// replicationOf is what a step brings that makes a node replicate.
func replicationOf(node string) string { return "replication of " + node }

func (w *caughtUp) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	began := time.Now()
	limited, cancel := w.limit(ctx)
	defer cancel()
	err := w.wait(limited, on, c)
	if err != nil {
		return nil, w.late(ctx, limited, err)
	}
	return action.Facts{"seconds": time.Since(began).Seconds()}, nil
}

func (w *caughtUp) wait(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	c.Progress(0, "asking "+w.Node+" what it has")
	replica, source, err := w.servers(ctx, on)
	if err != nil {
		return err
	}
	goal, err := source.executed(ctx)
	if err != nil {
		return err
	}
	l := link{replica, source}
	if err := awaitPosition(ctx, replica, goal, c.Progress); err != nil {
		return alsoWrote(ctx, l, err)
	}
	return w.hasTheSame(ctx, l)
}

// hasTheSame refuses a replica of MariaDB whose position is the primary's by transactions of its own: a position is a number, and those that
// both wrote have the same numbers.
func (w *caughtUp) hasTheSame(ctx context.Context, l link) error {
	if w.Source != "" || !l.replica.mariadb || l.replica.name() == l.source.name() {
		return nil
	}
	return l.refuseErrant(ctx)
}

// alsoWrote adds to why a replica does not go on that clients wrote to it, as after a start that opened it.
func alsoWrote(ctx context.Context, l link, err error) error {
	refusal := (*hint.PermanentError)(nil)
	if !errors.As(err, &refusal) {
		return err
	}
	var written *hint.PermanentError
	if !errors.As(l.refuseErrant(ctx), &written) {
		return err
	}
	return &hint.PermanentError{Reason: refusal.Reason + "; it accepted writes itself: " + written.Reason, Advice: written.Advice}
}

// Verify asks for nothing more: the source may have gone on.
func (w *caughtUp) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

// awaitPosition waits until a server has applied a set of transactions. It ends with a refusal when what it takes from its source
// has stopped for good.
func awaitPosition(ctx context.Context, s *server, goal admin.GTIDSet, tell func(float64, string)) error {
	var pace pace
	by, err := waitsFor(ctx, s)
	if err != nil {
		return err
	}
	return poll.Until(ctx, 50*time.Millisecond, func() (string, error) {
		has, err := s.executed(ctx)
		if err != nil {
			return "", err
		}
		left := goal.Without(has).Count()
		if left == 0 {
			return "", nil
		}
		is, err := s.status(ctx)
		if err != nil {
			return "", err
		}
		if err := whyStalled(s, by(is)); err != nil {
			return "", err
		}
		tell(pace.add(time.Now(), left))
		return fmt.Sprintf("%s still lacks %d transactions", s.name(), left), nil
	})
}

// waitsFor leaves of what a server says of itself the channel by which it follows its cluster, where that is known.
func waitsFor(ctx context.Context, s *server) (func(engine.ReplicationStatus) engine.ReplicationStatus, error) {
	all := func(is engine.ReplicationStatus) engine.ReplicationStatus { return is }
	is, err := s.status(ctx)
	if err != nil || followsOne(is) {
		return all, err
	}
	beside, err := outsideOf(ctx, s, is)
	if err != nil || beside.main == nil {
		return all, err
	}
	return func(is engine.ReplicationStatus) engine.ReplicationStatus {
		is.Sources = slices.DeleteFunc(slices.Clone(is.Sources), func(source engine.Source) bool { return source.Channel != beside.main.Channel })
		return is
	}, nil
}

// whyStalled refuses to wait for a server that applies nothing.
func whyStalled(s *server, is engine.ReplicationStatus) error {
	if len(is.Sources) == 0 {
		return &hint.PermanentError{Reason: s.name() + " does not replicate from any server, so it will never receive what it lacks",
			Advice: "mysql/rejoin -i node=" + s.name() + " makes it replicate; if it is not to be a part of the cluster any more, take it out of the cluster"}
	}
	from := is.Sources[0]
	if from.Applies {
		return nil
	}
	reason := s.name() + " does not apply what it receives"
	if from.Trouble != "" {
		reason += ": " + from.Trouble
	}
	return &hint.PermanentError{Reason: reason, Advice: "fix the cause and START REPLICA, then plimsoll runbook resume RUN"}
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
		text += ", and the number does not fall"
	}
	return 1 - float64(left)/float64(p.first), text
}
