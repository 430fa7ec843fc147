package replication

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

var detachAction = action.Action{
	Name: "mysql.detach", Version: 1,
	About: "Makes a replica follow nobody any more; it stays read only.",
	New:   func() action.Task { return &detach{} },
}

type detach struct {
	Node string `yaml:"node,required" doc:"Which replica."`
}

var _ action.Undoer = (*detach)(nil)

func (d *detach) Nature() action.Nature {
	return action.Nature{Effect: action.Reversible, Repeatable: true}
}

func (d *detach) Check(ctx context.Context, on *action.Site) (action.Finding, error) {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return action.Finding{}, err
	}
	is, err := s.standing(ctx)
	if err != nil {
		return action.Finding{}, err
	}
	f := action.Finding{State: action.Needed, Observed: action.Facts{"follows": is.Follows()}, Intended: action.Facts{"follows": ""}}
	switch {
	case is.Primary():
		return f, &action.Refusal{Reason: s.name() + " is the primary, not a replica", Advice: "mysql/switchover before"}
	case len(is.Sources) == 0:
		f.State = action.Satisfied
		return f, nil
	}
	if err := s.leads(ctx, is); err != nil {
		return f, err
	}
	if _, known := s.account(); !known {
		return f, &action.Refusal{Reason: "detaching " + s.name() + " makes it forget as whom it replicates, and it could not be taken back",
			Advice: "name the account in the inventory: replication: {user: …, password: {env: …}}"}
	}
	return f, s.singleSource(is)
}

// leads is why a server cannot go: others follow it. A server that left is noticed after a moment only: that may be waited for.
func (s *server) leads(ctx context.Context, is engine.Standing) error {
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.answers() && len(o.is.Sources) > 0 && s.isSource(o.is.Sources[0], is.ServerID) {
			return &action.Refusal{Reason: fmt.Sprintf("%s follows %s", o.name, s.name()), Advice: "let it follow another before, with mysql.replicate"}
		}
	}
	if is.Followers > 0 {
		return fmt.Errorf("%d servers that are not of this cluster read the binary log of %s", is.Followers, s.name())
	}
	return nil
}

func (d *detach) Act(ctx context.Context, on *action.Site, _ action.Call) (action.Facts, error) {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return nil, err
	}
	return nil, s.unfollow(ctx)
}

func (d *detach) Undo(ctx context.Context, on *action.Site, c action.Call) error {
	s, err := serverOf(ctx, on, d.Node)
	if err != nil {
		return err
	}
	return s.followAgain(ctx, c.Before)
}
