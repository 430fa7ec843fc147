package channel

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
)

var releaseBinlogs = action.Action{
	Name: "mysql.release-binlogs", Version: 1,
	About: "Sets how long a server keeps its binary logs: back to what mysql.keep-binlogs found, once they have been read.",
	New:   func() action.Task { return &release{} },
}

type release struct {
	Node    string `yaml:"node" doc:"Which node. Default: the primary."`
	Seconds int64  `yaml:"seconds,required" doc:"How long; 0 means for ever."`
	Limit   int64  `yaml:"size_limit" doc:"Size in bytes above which the oldest are purged whatever their age, where the server has such a limit; 0 means no limit. Default 0."`
}

var (
	_ action.Undoer    = (*release)(nil)
	_ action.Validator = (*release)(nil)
)

func (r *release) Validate() error {
	if r.Seconds < 0 || r.Limit < 0 {
		return fmt.Errorf("%d seconds and %d bytes, expected 0 or more", r.Seconds, r.Limit)
	}
	return nil
}

func (r *release) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (r *release) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	node, err := action.CheckedOn(ctx, on, r.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := retentionOn(ctx, on, node)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"seconds": is.seconds, "size_limit": is.limit},
		Intended: action.Facts{"seconds": r.Seconds, "size_limit": r.Limit},
	}
	if is.seconds == r.Seconds && is.limit == r.Limit {
		f.State = action.Satisfied
	}
	f.NotePrimary(r.Node, node)
	return f, nil
}

func (r *release) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	node, err := c.ActsOn(ctx, on, r.Node)
	if err != nil {
		return nil, err
	}
	if err := retainOn(ctx, on, node, r.Seconds, r.Limit); err != nil {
		return nil, err
	}
	is, err := retentionOn(ctx, on, node)
	return is.facts(), err
}

// Undo puts back what the first check saw.
func (r *release) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return restoreRetention(ctx, on, r.Node, c)
}

// restoreRetention puts back what a check saw, on the server that it saw it on. What was changed since stays: another replica may need the
// logs for longer.
func restoreRetention(ctx context.Context, on *cluster.Cluster, named string, c action.Call) error {
	node, err := c.ActedOn(named)
	if err != nil {
		return err
	}
	seconds, err := whole(c.Before["seconds"])
	if err != nil {
		return err
	}
	limit, err := whole(c.Before["size_limit"])
	if err != nil {
		return err
	}
	is, err := retentionOn(ctx, on, node)
	if err != nil {
		return err
	}
	left, err1 := whole(c.Output["seconds"])
	leftLimit, err2 := whole(c.Output["size_limit"])
	told := err1 == nil && err2 == nil // else the act did not end: nobody knows what it left
	if told && (is.seconds != seconds && is.seconds != left || is.limit != limit && is.limit != leftLimit) {
		kept := func(seconds, limit int64) string { return fmt.Sprintf("%d s and %d bytes", seconds, limit) }
		return action.ChangedSince(fmt.Sprintf("what node %s keeps of its binary logs", node), kept(is.seconds, is.limit), kept(left, leftLimit), kept(seconds, limit))
	}
	return retainOn(ctx, on, node, seconds, limit)
}

// retainOn sets how long a node keeps its binary logs.
func retainOn(ctx context.Context, on *cluster.Cluster, node string, seconds, limit int64) error {
	s, err := dial(ctx, on, node)
	if err != nil {
		return err
	}
	defer s.Close()
	is, err := retentionOf(ctx, s)
	if err != nil {
		return err
	}
	is.seconds, is.limit = seconds, limit
	return retainLogs(ctx, s, is)
}
