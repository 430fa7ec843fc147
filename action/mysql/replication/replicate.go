package replication

import (
	"context"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
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
	follows, err := replica.followsNow(ctx, is, source)
	if err != nil {
		return f, err
	}
	if follows && is.ReadOnly && !m.opensAgain() {
		f.State = action.Satisfied
		return f, noErrant(ctx, replica, source)
	}
	return f, replica.mayFollow(ctx, source)
}

// followsNow tells whether a server follows another, by GTID and without trouble.
func (s *server) followsNow(ctx context.Context, is engine.ReplicationStatus, source *server) (bool, error) {
	if len(is.Sources) != 1 {
		return false, nil
	}
	theirs, err := source.status(ctx)
	if err != nil {
		return false, err
	}
	from := is.Sources[0]
	return source.isSource(from, theirs.ServerID) && from.Automatic && from.Receives && from.Applies, nil
}

// mayFollow refuses what cannot become, or should not be, a replica of another.
func (s *server) mayFollow(ctx context.Context, source *server) error {
	if s.name() == source.name() {
		return &hint.PermanentError{Reason: s.name() + " cannot replicate from itself", Advice: "name another source"}
	}
	if s.mariadb != source.mariadb {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s and %s are different products: their GTIDs are not the same", s.name(), source.name()),
			Advice: "replicate between servers of one product"}
	}
	if log, err := source.value(ctx, admin.Global("log_bin")); err != nil {
		return err
	} else if log != "1" && log != "ON" {
		return &hint.PermanentError{Reason: source.name() + " writes no binary log", Advice: "set log_bin: on and restart it"}
	}
	if err := noErrant(ctx, s, source); err != nil {
		return err
	}
	if err := s.refuseCircle(ctx, source); err != nil {
		return err
	}
	if s.mariadb {
		return nil // whether the source still has what is lacking shows when it is asked for it
	}
	has, err := s.executed(ctx)
	if err != nil {
		return err
	}
	purged, err := source.set(ctx, admin.Global("gtid_purged"))
	if err != nil {
		return err
	}
	if gone := purged.Without(has); gone.Count() > 0 {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s lacks %d transactions that %s no longer has in its binary logs", s.name(), gone.Count(), source.name()),
			Advice: "seed it first, with mysql.clone or mysql/add-replica",
		}
	}
	return nil
}

// refuseCircle refuses a source that replicates from the server itself: it was made its primary meanwhile, and nobody would take writes.
func (s *server) refuseCircle(ctx context.Context, source *server) error {
	is, err := s.status(ctx)
	if err != nil {
		return err
	}
	theirs, err := source.status(ctx)
	if err != nil {
		return err
	}
	for _, from := range theirs.Sources {
		if s.isSource(from, is.ServerID) {
			refusal := &hint.PermanentError{Reason: fmt.Sprintf("%s replicates from %s: each would replicate from the other", source.name(), s.name()),
				Advice: "if " + s.name() + " is the primary, leave it as it is; mysql/switchover makes another node the primary"}
			if !from.Receives && !from.Applies {
				reset := "RESET REPLICA ALL"
				if source.mariadb {
					reset = "RESET SLAVE ALL"
				}
				refusal.Reason = fmt.Sprintf("%s is still configured to replicate from %s, though that is stopped: each would replicate from the other", source.name(), s.name())
				refusal.Advice += fmt.Sprintf("; if %s is meant to be the primary, execute %s on it and try again", source.name(), reset)
			}
			return refusal
		}
	}
	return nil
}

// noErrant refuses a server with transactions that its source does not have, whether it replicates from it already or not.
func noErrant(ctx context.Context, s, source *server) error {
	errant, err := s.errant(ctx, source)
	if err != nil || len(errant) == 0 {
		return err
	}
	return s.refuseErrant(errant, source)
}

func (s *server) refuseErrant(errant admin.GTIDSet, source *server) error {
	what := fmt.Sprintf("%d transactions", errant.Count())
	if s.mariadb { // positions, of which only the last numbers are errant
		what = "transactions"
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s has %s that %s does not have (%s): their data would differ for ever", s.name(), what, source.name(), errant),
		Advice: "find them in its binary log and carry over what matters, and seed the server again with mysql/add-replica",
	}
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
	if err := replica.mayFollow(ctx, source); err != nil {
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
