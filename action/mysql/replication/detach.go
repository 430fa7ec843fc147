package replication

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var detachAction = action.Action{
	Name: "mysql.detach", Version: 1,
	About: "Stops replication on a replica for good; the replica stays read-only.",
	New:   func() action.Task { return &detach{} },
}

type detach struct {
	Node string `yaml:"node,required" doc:"The replica."`
}

var (
	_ action.Undoer           = (*detach)(nil)
	_ action.Verifier         = (*detach)(nil)
	_ action.ApprovalDemander = (*detach)(nil)
)

func (d *detach) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (d *detach) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "take a replica out of replication", "kube/scale"); err != nil {
		return action.CheckResult{}, err
	}
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := s.status(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"follows": is.Follows()}, Intended: action.Facts{"follows": ""}}
	switch {
	case is.Primary():
		return f, &hint.PermanentError{Reason: s.name() + " is the primary, not a replica", Advice: "make another node the primary first: mysql/switchover -i to=NODE"}
	}
	if err := refuseLeader(ctx, s, is); err != nil {
		return f, err
	}
	if err := observeOwn(ctx, s, f.Observed); err != nil {
		return f, err
	}
	if len(is.Sources) == 0 {
		if f.Observed[onlyHere] == nil { // else a person is to be asked, though it follows nobody already
			f.State = action.Satisfied
		}
		return f, nil
	}
	if _, known := s.account(); !known {
		return f, &hint.PermanentError{Reason: "detaching " + s.name() + " makes it forget its replication account, so it could not be undone",
			Advice: "name the account in the inventory: replication: {user: …, password: {env: …}}"}
	}
	return f, s.singleSource(is)
}

// refuseLeader is why a server cannot go: others follow it. A server that left is noticed after a moment only: that may be waited for.
func refuseLeader(ctx context.Context, s *server, is engine.ReplicationStatus) error {
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.answers() && slices.ContainsFunc(o.is.Sources, func(source engine.Source) bool { return s.isSource(source, is.ServerID) }) {
			return &hint.PermanentError{Reason: fmt.Sprintf("%s follows %s", o.name, s.name()), Advice: "point it to another source first, with mysql.replicate"}
		}
	}
	if is.Followers > 0 {
		return fmt.Errorf("%d servers outside this cluster read the binary log of %s", is.Followers, s.name())
	}
	return nil
}

// onlyHere is the fact of the transactions that no other node has.
const onlyHere = "only_here"

// notCompared stands for those transactions when no other node answers.
const notCompared = "not known"

// observeOwn notes the transactions that only this server has, of all that answer.
func observeOwn(ctx context.Context, s *server, seen action.Facts) error {
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	own, compared := admin.GTIDSet(nil), false
	for _, o := range others {
		if !o.answers() {
			continue
		}
		other, err := serverOf(ctx, s.on, o.name)
		if err != nil {
			return err
		}
		if other.mariadb != s.mariadb {
			continue
		}
		lacks, err := link{s, other}.errant(ctx)
		if err != nil {
			return err
		}
		if !compared || lacks.Count() < own.Count() {
			own, compared = lacks, true
		}
	}
	switch {
	case compared && len(own) > 0:
		seen[onlyHere] = own.String()
	case !compared && len(others) > 0:
		seen[onlyHere] = notCompared
	}
	return nil
}

// ApprovalReason names what would be lost with the server.
func (d *detach) ApprovalReason(found action.CheckResult) string {
	own, some := found.Observed[onlyHere].(string)
	switch {
	case !some:
		return ""
	case own == notCompared:
		return fmt.Sprintf("no other node that could be compared answers: %s may have transactions, or all the data, that no other node has, which are lost when it is removed. Start another node first, if possible", d.Node)
	}
	return fmt.Sprintf("%s has transactions that no other node has (%s), which are lost when it is removed. Find them in its binary log, and execute those that you need on the primary", d.Node, own)
}

// Verify holds when it follows nobody.
func (d *detach) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return err
	}
	is, err := s.status(ctx)
	if err == nil && len(is.Sources) > 0 {
		err = fmt.Errorf("%s still follows %s", s.name(), is.Follows())
	}
	return err
}

func (d *detach) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return nil, err
	}
	is, err := s.status(ctx)
	if err != nil {
		return nil, err
	}
	if err := refuseLeader(ctx, s, is); err != nil { // it may be followed since it was checked
		return nil, err
	}
	return nil, s.unfollow(ctx)
}

func (d *detach) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return err
	}
	return s.followAgain(ctx, c.Before)
}
