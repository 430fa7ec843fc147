package bufferpool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var loadAction = action.Action{
	Name: "mysql.load-buffer-pool", Version: 1,
	About: "Loads the pages of the last dump into a node's buffer pool (innodb_buffer_pool_load_now), and waits until it is done.",
	New:   func() action.Task { return &load{} },
}

// load reads pages in the background. Cut off, it is aborted; what was read stays.
type load struct {
	onServer
}

var (
	_ action.Verifier       = (*load)(nil)
	_ action.InFlightWaiter = (*load)(nil)
)

// Traits says that nothing is left behind: data and settings stay as they are.
func (l *load) Traits() action.Traits { return action.Traits{Effect: action.None, Repeatable: true} }

// Check always finds it needed: that pages were loaded once does not say that they are still there.
func (l *load) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	last, err := l.status(ctx, on, loadStatus)
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"load": "complete"}, Reason: last.text}
	return f, err
}

var (
	loadNow   = order{variable: "innodb_buffer_pool_load_now", procedure: "rds_innodb_buffer_pool_load_now", status: loadStatus}
	loadAbort = order{variable: "innodb_buffer_pool_load_abort", procedure: "rds_innodb_buffer_pool_load_abort", status: loadStatus}
)

func (l *load) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	began := time.Now()
	s, err := l.carry(ctx, on, loadNow, func(s statusLine) { c.Progress(s.share, s.text) })
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(err, l.abort(ctx, on))
	case s.state == failed && strings.Contains(s.text, "for reading"):
		return nil, &hint.PermanentError{Reason: "there is nothing to load: " + s.text, Advice: "run mysql.dump-buffer-pool while the server is warm"}
	case err != nil:
		return nil, err
	}
	return action.Facts{"status": s.text, "seconds": time.Since(began).Seconds()}, nil
}

// abort ends a load that nobody waits for any more.
func (l *load) abort(ctx context.Context, on *cluster.Cluster) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if s, err := l.status(ctx, on, loadStatus); err != nil || s.state != underWay {
		return err
	}
	if err := l.give(ctx, on, loadAbort); err != nil {
		return fmt.Errorf("abort the load: %w", err)
	}
	return nil
}

// AwaitInFlight waits for a load that goes on although the Plimsoll that began it has died.
func (l *load) AwaitInFlight(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	return poll.Until(ctx, 200*time.Millisecond, func() (string, error) {
		s, err := l.status(ctx, on, loadStatus)
		if err != nil || s.state != underWay {
			return "", err
		}
		return s.text, nil
	})
}

// Verify looks that the server still tells of a load that it completed.
func (l *load) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	s, err := l.status(ctx, on, loadStatus)
	if err != nil {
		return err
	}
	return ended(s)
}
