package action

import (
	"context"
	"fmt"

	"plimsoll/cluster"
)

var killAction = Action{
	Name: "server.kill", Version: 1, About: "Ends a node's server with SIGKILL, as a crash would. Not in production.",
	New: func() Task { return &kill{} },
}

type kill struct {
	onServer
}

var _ Undoer = (*kill)(nil)

func (k *kill) Traits() Traits { return Traits{Effect: Reversible, Repeatable: true} }

func (k *kill) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	server, err := k.server(ctx, on)
	if err != nil {
		return CheckResult{}, err
	}
	if err := k.mayBreak(server, on); err != nil {
		return CheckResult{}, err
	}
	return k.ending(ctx, on)
}

func (k *kill) Act(ctx context.Context, on *cluster.Cluster, _ Call) (Facts, error) {
	b, err := k.faultProne(ctx, on)
	if err != nil {
		return nil, err
	}
	return nil, b.Kill(ctx)
}

func (k *kill) Undo(ctx context.Context, on *cluster.Cluster, c Call) error {
	return (&stop{onServer: k.onServer}).Undo(ctx, on, c)
}

var freezeAction = Action{
	Name: "server.freeze", Version: 1,
	About: "Freezes a node's server, or thaws it: connections stay open and it does not answer. Not in production.",
	New:   func() Task { return &freeze{Frozen: true} },
}

type freeze struct {
	onServer
	Frozen bool `yaml:"frozen" doc:"false thaws it. Default true."`
}

var _ Undoer = (*freeze)(nil)

func (f *freeze) Traits() Traits { return Traits{Effect: Reversible, Repeatable: true} }

func (f *freeze) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	server, err := f.server(ctx, on)
	if err != nil {
		return CheckResult{}, err
	}
	if err := f.mayBreak(server, on); err != nil {
		return CheckResult{}, err
	}
	running, err := server.Running(ctx)
	if err != nil {
		return CheckResult{}, err
	}
	if !running {
		return CheckResult{State: Unknown, Reason: fmt.Sprintf("node %s is not running", f.Node)}, nil
	}
	b, _ := cluster.As[cluster.Freezable](server) // every server that can be frozen is asked so
	is, err := b.Frozen(ctx)
	finding := CheckResult{State: Needed, Observed: Facts{"frozen": is}, Intended: Facts{"frozen": f.Frozen}}
	if is == f.Frozen {
		finding.State = Satisfied
	}
	return finding, err
}

func (f *freeze) Act(ctx context.Context, on *cluster.Cluster, _ Call) (Facts, error) {
	return nil, f.set(ctx, on, f.Frozen)
}

// Undo puts it back as it was found.
func (f *freeze) Undo(ctx context.Context, on *cluster.Cluster, c Call) error {
	before, _ := c.Before["frozen"].(bool)
	return f.set(ctx, on, before)
}

func (f *freeze) set(ctx context.Context, on *cluster.Cluster, frozen bool) error {
	b, err := f.faultProne(ctx, on)
	if err != nil {
		return err
	}
	if frozen {
		return b.Freeze(ctx)
	}
	return b.Thaw(ctx)
}
