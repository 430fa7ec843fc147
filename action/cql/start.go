package cql

import (
	"context"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

var startAction = action.Action{
	Name: "cql.start", Version: 1,
	About: "Starts a member and waits until it serves. One that is drained, and runs without serving, is restarted. Refused if the ring has removed it, or if it was away for longer than deletions are kept (gc_grace_seconds). Its output repair is yes if it was away for longer than hints are kept.",
	New:   func() action.Task { return &start{} },
}

// start is server.start for a node that may be drained: it runs, and would never answer.
type start struct {
	Node   string `yaml:"node,required" doc:"Which node."`
	Data   string `yaml:"data" doc:"The folder on its machine that contains its data. Default, in a lab: the node's."`
	Accept string `yaml:"accept_resurrection" doc:"Tables or keyspaces, separated by commas, of which deleted rows may come back. Default: none."`
}

var (
	_ action.Undoer     = (*start)(nil)
	_ action.Verifier   = (*start)(nil)
	_ action.Privileged = (*start)(nil)
)

func (s *start) server() *action.Start { return action.NewStart(s.Node) }

func (s *start) Traits() action.Traits { return s.server().Traits() }

func (s *start) Needs() []engine.Need { return seeing() }

func (s *start) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	return s.server().Check(ctx, on)
}

func (s *start) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	n, err := on.Node(ctx, s.Node)
	if err != nil {
		return nil, err
	}
	repair := false
	if n.Server != nil {
		if repair, err = mayStart(ctx, on, n, s.Data, s.Accept); err != nil {
			return nil, action.NothingDone{Err: err}
		}
		if err := restarted(ctx, n); err != nil {
			return nil, err
		}
	}
	output, err := s.server().Act(ctx, on, c)
	if err == nil && repair {
		output = action.Facts{"repair": "yes"}
	}
	return output, err
}

func (s *start) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	return s.server().Verify(ctx, on, output)
}

func (s *start) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return s.server().Undo(ctx, on, c)
}
