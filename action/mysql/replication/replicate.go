package replication

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
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
	Source string `yaml:"source" doc:"The source. Default: the primary, which is the one other node that accepts writes."`
}

var (
	_ action.Undoer    = (*replicate)(nil)
	_ action.Bringer   = (*replicate)(nil)
	_ action.Cautioned = (*replicate)(nil)
)

// Cautions name the option file that decides what the server is after a restart.
func (r *replicate) Cautions(ctx context.Context, on *cluster.Cluster) []action.Caution {
	s, err := serverOf(ctx, on, r.Node)
	if err != nil {
		return nil
	}
	return atStart(ctx, s, "whether it accepts writes after a restart", closedAtStart(s))
}

// Brings is the replication of its node.
func (r *replicate) Brings(context.Context, *cluster.Cluster) []string {
	return []string{replicationOf(r.Node)}
}

func (r *replicate) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (r *replicate) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "make a server replicate", "kube/scale"); err != nil {
		return action.CheckResult{}, err
	}
	source, err := r.source(ctx, on)
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
	beside, err := outsideOf(ctx, replica, is)
	if err != nil {
		return action.CheckResult{}, err
	}
	_, from, err := beside.follows()
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"follows": from.Address, "read_only": is.ReadOnly},
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
	f.Reason = optionFile(replica, m, "whether it accepts writes after a restart", closedAtStart(replica))
	return f, link{replica, source}.mayBegin(ctx)
}

func (r *replicate) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	source, err := r.source(ctx, on)
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

// source is the server to follow: where none is named, the one other node that accepts writes.
func (r *replicate) source(ctx context.Context, on *cluster.Cluster) (*server, error) {
	if r.Source != "" {
		return serverOf(ctx, on, r.Source)
	}
	all, err := ask(ctx, on)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p peer) bool { return p.name == r.Node })
	first := taking(all)
	if second := taking(slices.DeleteFunc(all, func(p peer) bool { return p.name == first })); second != "" {
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("%s and %s both accept writes: which of them %s is to replicate from is not known", first, second, r.Node),
			Advice: fmt.Sprintf("make the one that is not to be the primary read-only, "+closing+", and try again. "+
				"Where both are meant to accept writes, name one in a runbook of your own: uses: mysql.replicate, with: {node: %s, source: %s}", r.Node, first),
		}
	}
	if primary, err := on.Primary(ctx); first == "" && err == nil && primary.Name == r.Node {
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("%s is the primary: no other node that answers accepts writes", r.Node),
			Advice: "start the node that it is to replicate from and try again, or leave it as it is",
		}
	}
	return serverOf(ctx, on, first) // with no name it means the primary: where none accepts writes, the error says so
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
	beside, err := outsideOf(ctx, s, is)
	if err != nil {
		return err
	}
	if from := beside.main; from != nil && from.Address == address && from.Receives && from.Applies {
		return nil
	}
	if err := s.mayFollowAgain(ctx, address); err != nil {
		return err
	}
	return s.follow(ctx, source{address, address})
}
