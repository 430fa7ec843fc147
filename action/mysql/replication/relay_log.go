package replication

import (
	"context"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

var applyRelayLogAction = action.Action{
	Name: "mysql.apply-relay-log", Version: 1,
	About: "Stops a replica from receiving more from its source, and waits until it has applied everything it received.",
	New:   func() action.Task { return &applyRelayLog{} },
}

type applyRelayLog struct {
	Node string `yaml:"node,required" doc:"The replica."`
}

var _ action.Undoer = (*applyRelayLog)(nil)

func (a *applyRelayLog) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *applyRelayLog) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	s, err := serverOf(ctx, on, a.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := s.status(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	if is.Primary() || len(is.Sources) == 0 { // it was promoted, or has no relay log: there is nothing to apply
		return action.CheckResult{State: action.Satisfied}, nil
	}
	taken, err := s.received(ctx, is)
	if err != nil {
		return action.CheckResult{}, err
	}
	has, err := s.executed(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"receives": is.Sources[0].Receives}, Intended: action.Facts{"receives": false},
	}
	if !is.Sources[0].Receives && taken.Without(has).Count() == 0 {
		f.State = action.Satisfied // whether it applies or not: there is nothing to apply
		return f, nil
	}
	return f, whyStalled(s, is)
}

func (a *applyRelayLog) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	s, err := serverOf(ctx, on, a.Node)
	if err != nil {
		return nil, err
	}
	if err := s.do(ctx, "", s.dialect.StopReceiving("")...); err != nil {
		return nil, err
	}
	is, err := s.status(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := s.received(ctx, is)
	if err != nil {
		return nil, err
	}
	return nil, awaitPosition(ctx, s, taken, c.Progress)
}

// Undo lets it take again what its source sends. It waits a while until it does: the source may be dead.
func (a *applyRelayLog) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	s, err := serverOf(ctx, on, a.Node)
	if err != nil {
		return err
	}
	is, err := s.status(ctx)
	if err != nil {
		return err
	}
	if len(is.Sources) == 0 {
		return &hint.PermanentError{Reason: s.name() + " replicates from no server any more: it has nothing left to apply", Advice: "use mysql.replicate if it should be a replica"}
	}
	if err := s.do(ctx, "", s.dialect.Start("")...); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = s.awaitRunning(limited, "its source") // it tries again by itself
	return ctx.Err()
}
