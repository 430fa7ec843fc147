package superdisk

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
)

var fenceAction = action.Action{
	Name: "superdisk.fence", Version: 1,
	About: "Makes sure that the machine of a lost node cannot write any more before its volume is attached elsewhere: stops it, and verifies that it is stopped. Where Plimsoll cannot verify that, it asks a person.",
	New:   func() action.Task { return &fence{array: array{Array: usual}} },
}

// fence keeps two machines from serving as the same node: one that still runs goes on writing to its local disk.
type fence struct {
	array

	To     string `yaml:"to,required" doc:"The node that replaces it; the same node if its machine was started again."`
	Volume string `yaml:"volume" doc:"The volume that will be moved, if it is known: the machine that it is attached to must be the one that is stopped."`
}

var (
	_ action.Verifier         = (*fence)(nil)
	_ action.ApprovalDemander = (*fence)(nil)
)

// Traits says irreversible: a machine that was stopped has lost its local disk.
func (f *fence) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (f *fence) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r := action.CheckResult{State: action.Needed, Observed: action.Facts{}, Intended: action.Facts{"running": false}}
	if f.To == f.Node {
		return f.anew(ctx, on, r)
	}
	n, err := on.Node(ctx, f.Node)
	if err != nil {
		return r, err
	}
	if n.Host == nil {
		r.Observed["seen"] = false
		return r, nil
	}
	if err := f.owner(ctx, on, n.Host, r.Observed); err != nil {
		return r, err
	}
	running, err := n.Host.Running(ctx)
	if errors.Is(err, infra.ErrNoMachine) { // it was terminated long ago, or is another's name
		r.Observed["seen"], r.Reason = false, err.Error()
		return r, nil
	}
	r.Observed["running"] = running
	if err == nil && !running {
		r.State = action.Satisfied
	}
	return r, err
}

// owner refuses to stop a machine while another has the volume: a tag that two machines carried, or a machine that was replaced.
func (f *fence) owner(ctx context.Context, on *cluster.Cluster, h cluster.Host, observed action.Facts) error {
	if f.Volume == "" || on.Volumes == nil {
		return nil
	}
	id, err := h.ID(ctx)
	if errors.Is(err, infra.ErrNoMachine) {
		return nil // Running says so
	}
	if err != nil {
		return err
	}
	observed["machine"] = id
	v, err := on.Volume(ctx, f.Node, f.Volume)
	if errors.Is(err, infra.ErrNoVolume) {
		return nil // the next step says so
	}
	if err == nil && v.Machine != "" && v.Machine != id {
		to, _ := on.Node(ctx, f.To)
		if to.Host != nil {
			if its, err := to.Host.ID(ctx); err == nil && its == v.Machine {
				return nil // it went over already
			}
		}
		err = &hint.PermanentError{Reason: fmt.Sprintf("the machine of %s is %s, and volume %s is attached to %s", f.Node, id, v.ID, v.Machine),
			Advice: "name the machine of the lost node by its id: the machine that has the volume must be stopped, and verified to be stopped"}
	}
	return err
}

// anew finds that a machine was started anew, which ended all that it had been doing: it serves nothing from the array.
func (f *fence) anew(ctx context.Context, on *cluster.Cluster, r action.CheckResult) (action.CheckResult, error) {
	_, _, a, found, err := f.look(ctx, on)
	if err != nil {
		return r, err
	}
	r.Observed = facts(a, found)
	if found && a.Mount != "" {
		return r, &hint.PermanentError{Reason: fmt.Sprintf("the machine of %s is not lost: %s is mounted there at %s", f.Node, a.Label(), a.Mount),
			Advice: fmt.Sprintf("superdisk/rebuild -i node=%[1]s gives it a new local leg while it serves; superdisk/replace-node -i node=%[1]s moves it as a planned change", f.Node)}
	}
	r.State = action.Satisfied
	return r, nil
}

// ApprovalReason asks a person where the machine cannot be seen.
func (f *fence) ApprovalReason(r action.CheckResult) string {
	if seen, known := r.Observed["seen"].(bool); known && !seen {
		return fmt.Sprintf("Plimsoll cannot see from here whether the machine of %s is stopped: have you verified that it is stopped? A machine that still runs would keep writing to its local disk under the same identity", f.Node)
	}
	return ""
}

func (f *fence) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	n, err := on.Node(ctx, f.Node)
	if err != nil || n.Host == nil || f.To == f.Node {
		return nil, err
	}
	err = n.Host.Kill(ctx)
	if errors.Is(err, infra.ErrNoMachine) {
		err = nil // a person was asked
	}
	return nil, err
}

// Verify sees it stopped.
func (f *fence) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	n, err := on.Node(ctx, f.Node)
	if err != nil || n.Host == nil || f.To == f.Node {
		return err
	}
	running, err := n.Host.Running(ctx)
	if errors.Is(err, infra.ErrNoMachine) {
		return nil // a person was asked
	}
	if err == nil && running {
		err = fmt.Errorf("the machine of %s is still running", f.Node)
	}
	return err
}
