package replication

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

var fenceAction = action.Action{
	Name: "mysql.fence", Version: 1,
	About: "Fences a primary that will be replaced: makes it read-only if it answers, otherwise ends its process if Plimsoll can reach its machine, and makes it start read-only where its configuration can be changed.",
	New:   func() action.Task { return &fence{} },
}

type fence struct {
	Node string `yaml:"node,required" doc:"Which node."`
}

var (
	_ action.Verifier         = (*fence)(nil)
	_ action.ApprovalDemander = (*fence)(nil)
)

func (f *fence) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// The facts of a fence.
const (
	fenceRuns  = "runs"
	fenceWays  = "can_be_ended"
	fenceModes = "comes_back"
)

// Check says what is known of the server, and what could be done to it.
func (f *fence) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "fence a server", ""); err != nil {
		return action.CheckResult{}, err
	}
	out := action.CheckResult{State: action.Needed, Observed: action.Facts{}, Intended: action.Facts{"takes_writes": false}}
	if s, err := f.answering(ctx, on); err == nil {
		m, err := modeOf(ctx, s)
		if err != nil {
			return out, err
		}
		out.Observed = m.facts()
		if m.refuses(s) && !m.opensAgain() {
			out.State = action.Satisfied
		}
		return out, nil
	} else if ctx.Err() != nil {
		return out, ctx.Err()
	}
	n, err := on.Node(ctx, f.Node)
	if err != nil {
		return out, err
	}
	if n.Server == nil {
		out.Observed[fenceWays] = false
		return out, nil
	}
	runs, err := runsThere(ctx, n)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil { // it is lost with its server, or cut off: a person knows more
		out.Observed[fenceWays], out.Reason = false, fmt.Sprintf("Plimsoll cannot find out on its machine whether it is running: %v", err)
		return out, nil
	}
	comes, err := comesBack(ctx, n)
	out.Observed[fenceRuns], out.Observed[fenceWays], out.Observed[fenceModes] = runs, true, comes
	if !runs && comes == comesReadOnly {
		out.State = action.Satisfied
	}
	return out, err
}

// What a server does after its next start.
const (
	comesReadOnly = "read only"
	comesWritable = "writable"
	comesUnknown  = "unknown" // only its machine knows: Plimsoll does not write its option file
)

// ApprovalReason names what could happen when a server cannot be reached at all, and when it can be ended but nobody knows how it comes back.
func (f *fence) ApprovalReason(found action.CheckResult) string {
	if found.State != action.Satisfied && found.Observed[fenceModes] == comesUnknown {
		text := f.mayComeBack()
		if found.Observed[fenceRuns] == true {
			text = "Plimsoll ends the process of " + f.Node + ". " + text
		}
		return text
	}
	if can, known := found.Observed[fenceWays].(bool); known && !can {
		why := ""
		if found.Reason != "" {
			why = " (" + found.Reason + ")"
		}
		return fmt.Sprintf("%s cannot be fenced from here%s: if it still runs, clients that reach it write there, and those writes are lost or have to be merged by hand. "+
			"Make sure by other means that it is down or disconnected", f.Node, why)
	}
	return ""
}

// mayComeBack is what is to be done about a server of which only its machine knows how it starts. What was persisted wins over an option file.
func (f *fence) mayComeBack() string {
	return fmt.Sprintf("%[1]s may accept writes after its next start. Keep its service from starting; or, on MariaDB, put read_only = ON into its option file; on MySQL, put super_read_only = ON there and start it once with --persisted-globals-load=OFF. "+
		"When it is back: mysql/rejoin -i node=%[1]s", f.Node)
}

// unfenced is what comes of a fence that could not be had: the server remains to be looked after.
func (f *fence) unfenced() action.Facts {
	return action.Facts{"way": "none", action.LeftOut: map[string]any{f.Node: f.mayComeBack()}}
}

// answering connects to the node, with little patience.
func (f *fence) answering(ctx context.Context, on *cluster.Cluster) (*server, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := serverOf(limited, on, f.Node)
	if err != nil {
		return nil, err
	}
	_, err = s.value(limited, "SELECT 1")
	return s, err
}

// machinePatience is how long a node's machine may take to say whether its server runs before it counts as one that cannot be reached.
const machinePatience = 4 * patience

// runsThere asks a node's machine whether its server runs.
func runsThere(ctx context.Context, n cluster.Node) (bool, error) {
	limited, cancel := context.WithTimeoutCause(ctx, machinePatience, fmt.Errorf("no answer within %s", machinePatience))
	defer cancel()
	return n.Server.Running(limited)
}

// comesBack is what a server that does not run is after its next start, as far as its settings say.
func comesBack(ctx context.Context, n cluster.Node) (string, error) {
	own, ok := cluster.As[cluster.Assignable](n.Server)
	if !ok {
		return comesUnknown, nil
	}
	settings, err := own.Assigned(ctx)
	if settings[modeNow] == "ON" {
		return comesReadOnly, err
	}
	return comesWritable, err
}

func (f *fence) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	if s, err := f.answering(ctx, on); err == nil {
		c.Progress(0, "making it read-only")
		if err := s.close(ctx); err != nil {
			return nil, err
		}
		ended, err := endClients(ctx, s)
		out := action.Facts{"way": "read only", "connections_ended": ended}
		if m, asking := modeOf(ctx, s); asking == nil && m[keptNow] == cannotBeKept {
			out[action.LeftOut] = map[string]any{f.Node: f.mayComeBack()}
		}
		return out, err
	} else if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	n, err := on.Node(ctx, f.Node)
	if err != nil {
		return nil, err
	}
	if n.Server == nil {
		return f.unfenced(), nil // a person said that it is well
	}
	if _, err := runsThere(ctx, n); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		if can, known := c.Before[fenceWays].(bool); known && !can {
			return f.unfenced(), nil // a person said so of this too
		}
		return nil, action.NothingDone{Err: &hint.PermanentError{
			Reason: fmt.Sprintf("%s cannot be fenced from here any more: its machine does not tell whether it is running: %v", f.Node, err),
			Advice: "make that machine reachable, then plimsoll runbook resume RUN; or plimsoll runbook cancel RUN, and start a new one, which asks a person whether it may continue without the fence",
		}}
	}
	comes, err := comesBack(ctx, n)
	if err != nil {
		return nil, action.NothingDone{Err: err}
	}
	if comes == comesUnknown && c.Before[fenceModes] != comesUnknown {
		return nil, action.NothingDone{Err: &hint.PermanentError{
			Reason: fmt.Sprintf("%s does not answer any more, and %s", f.Node, f.mayComeBack()),
			Advice: "plimsoll runbook resume RUN asks a person whether it may continue; or plimsoll runbook cancel RUN",
		}}
	}
	c.Progress(0, "ending its process")
	defer on.RolesChanged()
	var kept error
	if own, ok := cluster.As[cluster.Assignable](n.Server); ok {
		kept = assignMode(ctx, own, mode{keptNow: "ON"}) // super_read_only is MySQL's alone, and which it is it does not say
	}
	end := n.Server.Stop
	if e, ok := cluster.As[cluster.Ender](n.Server); ok {
		end = e.End
	}
	if b, ok := cluster.As[cluster.FaultProneServer](n.Server); ok {
		end = b.Kill // it hangs: it would not end cleanly
	}
	out := action.Facts{"way": "ended"}
	if comes == comesUnknown {
		out[action.LeftOut] = map[string]any{f.Node: f.mayComeBack()}
	}
	return out, errors.Join(kept, end(ctx))
}

// Verify accepts what a person has approved, though the server cannot be reached.
func (f *fence) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	if output["way"] == "none" {
		return nil
	}
	found, err := f.Check(ctx, on)
	if err == nil && found.Observed[fenceModes] == comesUnknown && found.Observed[fenceRuns] == false {
		return nil // a person was asked, and it is noted
	}
	if err == nil && found.State != action.Satisfied {
		err = fmt.Errorf("%s is not fenced: %v", f.Node, found.Observed)
	}
	return err
}
