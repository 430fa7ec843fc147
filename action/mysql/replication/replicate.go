package replication

import (
	"context"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
)

// patience is how long a server may take to answer before it counts as one that does not.
const patience = 5 * time.Second

var replicateAction = action.Action{
	Name: "mysql.replicate", Version: 1,
	About: "Makes a node a read-only replica of another, continuing by GTID from the data that it has.",
	New:   func() action.Task { return &replicate{} },
}

type replicate struct {
	Node   string `yaml:"node,required" doc:"The node that becomes the replica."`
	Source string `yaml:"source" doc:"The source. Default: the primary."`
}

var _ action.Undoer = (*replicate)(nil)

func (r *replicate) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (r *replicate) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "make a server replicate", "kube/scale"); err != nil {
		return action.CheckResult{}, err
	}
	source, err := serverOf(ctx, on, r.Source)
	if err != nil {
		return action.CheckResult{}, err
	}
	replica, err := serverOf(ctx, on, r.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := replica.status(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	if err := replica.singleSource(is); err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"follows": is.Follows(), "read_only": is.ReadOnly},
		Intended: action.Facts{"follows": source.address(), "read_only": true},
	}
	m, err := modeOf(ctx, replica)
	if err != nil {
		return f, err
	}
	for name, v := range m.facts() {
		if name != modeNow {
			f.Observed[name] = v
		}
	}
	follows, err := link{replica, source}.runs(ctx, is)
	if err != nil {
		return f, err
	}
	if follows && is.ReadOnly && !m.opensAgain() {
		f.State = action.Satisfied
		return f, link{replica, source}.refuseErrant(ctx)
	}
	return f, link{replica, source}.mayBegin(ctx)
}

func (r *replicate) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	source, err := serverOf(ctx, on, r.Source)
	if err != nil {
		return nil, err
	}
	replica, err := serverOf(ctx, on, r.Node)
	if err != nil {
		return nil, err
	}
	if err := (link{replica, source}).mayBegin(ctx); err != nil {
		return nil, err
	}
	c.Progress(0, "making it read-only")
	if err := setMode(ctx, replica, replica.refusing()); err != nil {
		return nil, err
	}
	c.Progress(0.5, "following "+source.name())
	return nil, replica.follow(ctx, source.asSource())
}

// Undo makes it follow whom it followed before, or nobody.
func (r *replicate) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	replica, err := serverOf(ctx, on, r.Node)
	if err != nil {
		return err
	}
	if !modeBefore(c.Before).reopens() {
		if err := replica.mayClose(ctx); err != nil {
			return err
		}
	}
	if err := replica.followAgain(ctx, c.Before); err != nil {
		return err
	}
	return replica.restoreMode(ctx, c.Before, c.Progress)
}

// followAgain makes a server follow whom it followed before.
func (s *server) followAgain(ctx context.Context, before action.Facts) error {
	address, _ := before["follows"].(string)
	if address == "" {
		return s.unfollow(ctx)
	}
	if err := s.mayClose(ctx); err != nil {
		return err
	}
	is, err := s.status(ctx)
	if err != nil {
		return err
	}
	if is.Follows() == address && is.Sources[0].Receives && is.Sources[0].Applies {
		return nil
	}
	if err := s.mayFollowAgain(ctx, address); err != nil {
		return err
	}
	return s.follow(ctx, source{address, address})
}
