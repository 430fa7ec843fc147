package fault

import (
	"context"
	"errors"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
)

// onMachine is whose machine.
type onMachine struct {
	Node string `yaml:"node,required" doc:"The node whose machine it is."`
}

func (o onMachine) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// Brings says anything: what is on a machine may be otherwise after a fault.
func (o onMachine) Brings(context.Context, *cluster.Cluster) []string {
	return []string{action.Anything}
}

// is compares one thing about a machine that is so, or is not.
func (o onMachine) is(ctx context.Context, on *cluster.Cluster, what string, want bool, ask func(context.Context, cluster.FaultProneHost) (bool, error)) (action.CheckResult, error) {
	i, err := on.Host(ctx, o.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := ask(ctx, i)
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{what: is}, Intended: action.Facts{what: want}}
	if is == want {
		f.State = action.Satisfied
	}
	return f, err
}

func running(ctx context.Context, i cluster.FaultProneHost) (bool, error) { return i.Running(ctx) }

var killAction = action.Action{
	Name: "fault.kill-machine", Version: 1,
	About: "Stops a node's machine at once, like the loss of its host: everything that was not on its volumes is lost. Not in production.",
	New:   func() action.Task { return &kill{} },
}

type kill struct{ onMachine }

var _ action.Undoer = (*kill)(nil)

func (k *kill) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	return k.is(ctx, on, "running", false, running)
}

func (k *kill) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	i, err := host(ctx, on, k.Node)
	if err != nil {
		return nil, err
	}
	return nil, i.Kill(ctx)
}

// Undo boots it, if it ran.
func (k *kill) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if before, _ := c.Before["running"].(bool); !before {
		return nil
	}
	i, err := on.Host(ctx, k.Node)
	if err != nil {
		return err
	}
	return i.Boot(ctx)
}

var bootAction = action.Action{
	Name: "machine.boot", Version: 1, About: "Boots a node's machine with the volumes that it had. The server is not started.",
	New: func() action.Task { return &boot{} },
}

type boot struct{ onMachine }

// Traits says that nothing takes it back: to end a machine is a fault.
func (b *boot) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (b *boot) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	return b.is(ctx, on, "running", true, running)
}

func (b *boot) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	i, err := on.Host(ctx, b.Node)
	if err != nil {
		return nil, err
	}
	return nil, i.Boot(ctx)
}

var cutAction = action.Action{
	Name: "fault.cut-network", Version: 1,
	About: "Drops all packets between a node's machine and the others until it is undone. Not in production.",
	New:   func() action.Task { return &cut{Cut: true} },
}

type cut struct {
	onMachine
	Cut bool `yaml:"cut" doc:"false connects it again. Default true."`
}

var _ action.Undoer = (*cut)(nil)

func (c *cut) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	return c.is(ctx, on, "cut", c.Cut, func(ctx context.Context, i cluster.FaultProneHost) (bool, error) { return i.NetworkCut(ctx) })
}

func (c *cut) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	return nil, c.set(ctx, on, c.Cut)
}

// Undo puts it back as it was found.
func (c *cut) Undo(ctx context.Context, on *cluster.Cluster, call action.Call) error {
	before, _ := call.Before["cut"].(bool)
	return c.set(ctx, on, before)
}

func (c *cut) set(ctx context.Context, on *cluster.Cluster, cut bool) error {
	i, err := host(ctx, on, c.Node)
	if err != nil {
		return err
	}
	if cut {
		return i.CutNetwork(ctx)
	}
	return i.MendNetwork(ctx)
}

var skewAction = action.Action{
	Name: "fault.skew-clock", Version: 1, About: "Shifts the clock of a node's machine until it is undone. Not in production.",
	New: func() action.Task { return &skew{} },
}

type skew struct {
	onMachine
	Ahead  time.Duration `yaml:"ahead" doc:"How far ahead of this machine's clock."`
	Behind time.Duration `yaml:"behind" doc:"How far behind this machine's clock."`
}

var _ action.Undoer = (*skew)(nil)

func (s *skew) Validate() error {
	if (s.Ahead == 0) == (s.Behind == 0) || s.Ahead < 0 || s.Behind < 0 {
		return errors.New("give ahead or behind, such as 1h")
	}
	return nil
}

// grain is how exactly clocks are compared: as exactly as the same clock is read twice on a busy machine.
const grain = 5 * time.Second

func (s *skew) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	i, err := on.Host(ctx, s.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := i.Skew(ctx)
	want := s.Ahead - s.Behind
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"ahead": is.Round(grain).String()}, Intended: action.Facts{"ahead": want.Round(grain).String()}}
	if (is - want).Abs() <= grain {
		f.State = action.Satisfied
	}
	return f, err
}

func (s *skew) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	return nil, s.set(ctx, on, s.Ahead-s.Behind)
}

// Undo sets it as far off as it was found.
func (s *skew) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	said, _ := c.Before["ahead"].(string)
	before, err := time.ParseDuration(said)
	if err != nil {
		return err
	}
	return s.set(ctx, on, before)
}

func (s *skew) set(ctx context.Context, on *cluster.Cluster, want time.Duration) error {
	i, err := host(ctx, on, s.Node)
	if err != nil {
		return err
	}
	is, err := i.Skew(ctx)
	if err != nil {
		return err
	}
	return i.SkewClock(ctx, want-is)
}
