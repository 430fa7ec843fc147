package replication

import (
	"context"

	"plimsoll/runbook/action"
)

var applyRelayLogAction = action.Action{
	Name: "mysql.apply-relay-log", Version: 1,
	About: "Makes a replica take nothing more from its source, and waits until it has applied all that it took.",
	New:   func() action.Task { return &applyRelayLog{} },
}

type applyRelayLog struct {
	Node string `yaml:"node,required" doc:"Which replica."`
}

var _ action.Undoer = (*applyRelayLog)(nil)

func (a *applyRelayLog) Nature() action.Nature {
	return action.Nature{Effect: action.Reversible, Repeatable: true}
}

func (a *applyRelayLog) Check(ctx context.Context, on *action.Site) (action.Finding, error) {
	s, err := serverOf(ctx, on, a.Node)
	if err != nil {
		return action.Finding{}, err
	}
	is, err := s.standing(ctx)
	if err != nil {
		return action.Finding{}, err
	}
	if is.Primary() { // it was promoted: there is nothing to apply
		return action.Finding{State: action.Satisfied}, nil
	}
	if err := s.stalled(is); err != nil {
		return action.Finding{}, err
	}
	taken, err := s.received(ctx, is)
	if err != nil {
		return action.Finding{}, err
	}
	has, err := s.executed(ctx)
	if err != nil {
		return action.Finding{}, err
	}
	f := action.Finding{
		State: action.Needed, Observed: action.Facts{"receives": is.Sources[0].Receives}, Intended: action.Facts{"receives": false},
	}
	if !is.Sources[0].Receives && taken.without(has).count() == 0 {
		f.State = action.Satisfied
	}
	return f, nil
}

func (a *applyRelayLog) Act(ctx context.Context, on *action.Site, c action.Call) (action.Facts, error) {
	s, err := serverOf(ctx, on, a.Node)
	if err != nil {
		return nil, err
	}
	if err := s.do(ctx, "", s.words().stopReceiver); err != nil {
		return nil, err
	}
	is, err := s.standing(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := s.received(ctx, is)
	if err != nil {
		return nil, err
	}
	return nil, s.reach(ctx, taken, c.Progress)
}

// Undo lets it take again what its source sends. It waits a while until it does: the source may be dead.
func (a *applyRelayLog) Undo(ctx context.Context, on *action.Site, _ action.Call) error {
	s, err := serverOf(ctx, on, a.Node)
	if err != nil {
		return err
	}
	if err := s.do(ctx, "", s.words().start); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = s.awaitRunning(limited, "its source") // it tries again by itself
	return ctx.Err()
}
