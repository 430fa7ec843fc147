package superdisk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var fitsAction = action.Action{
	Name: "superdisk.fits", Version: 1,
	About: "Makes sure that a disk can become the local leg of an array, before a server is stopped or started for it: it is large enough, free, and not the network volume itself. It changes nothing.",
	New:   func() action.Task { return &fits{} },
}

// fits looks at what superdisk.rebuild would refuse when a node serves from its network leg alone already.
type fits struct {
	Node    string `yaml:"node,required" doc:"The node whose machine has the disk."`
	Volume  string `yaml:"volume,required" doc:"The disk: a device, the serial number of its disk, or the name of a volume of the node."`
	Network string `yaml:"network,required" doc:"The network volume, a leg of the array: its id, its name, or a device."`
	From    string `yaml:"from" doc:"The node whose machine has the network volume now. It must be another node. Default: not known; its size is then checked once it is attached to the node's machine."`
}

var _ action.Verifier = (*fits)(nil)

func (f *fits) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (f *fits) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r := action.CheckResult{State: action.Needed, Intended: action.Facts{"fits": true}}
	if f.From == f.Node {
		return r, &hint.PermanentError{Reason: "the node is to move from " + f.From + " to itself", Advice: "name another node as the one it moves to: a spare of the inventory (spare: true), whose machine has the new local disk"}
	}
	m, err := on.Machine(ctx, f.Node)
	if err != nil {
		return r, err
	}
	if err := f.distinct(ctx, on); err != nil {
		return r, err
	}
	d, r, err := examined(ctx, on, m, f.Node, f.Volume, r)
	if err != nil || len(r.Awaits) > 0 {
		return r, err
	}
	r.Observed = action.Facts{"device": d.Device, "mib": d.Size >> 20}
	super, known, err := f.leg(ctx, on, m, d.Device)
	if err != nil {
		return r, err
	}
	if !known {
		r.Reason = fmt.Sprintf("%s has %d MiB: whether that is enough is known when volume %s is attached", d.Device, d.Size>>20, f.Network)
		return r, nil
	}
	if err := (superdisk.Rebuild{Machine: m, Target: d.Device, Role: superdisk.Local}).Fits(ctx, super); err != nil {
		return r, &hint.PermanentError{Reason: err.Error(), Advice: hint.Of(err) + "; for that, end this run and begin another: plimsoll runbook cancel RUN --undo"}
	}
	r.State = action.Satisfied
	return r, nil
}

// oneVolume refuses one volume as both legs.
func (f *fits) oneVolume() error {
	return &hint.PermanentError{Reason: fmt.Sprintf("%s and %s are one volume: the local leg must be another disk than the network leg", f.Volume, f.Network),
		Advice: "name the local disk of the machine of " + f.Node}
}

// distinct refuses one volume as both legs, by what the step says and by what the provider says. The name of a device says nothing of volumes: two machines
// have two disks of that name.
func (f *fits) distinct(ctx context.Context, on *cluster.Cluster) error {
	if strings.HasPrefix(f.Volume, "/") || strings.HasPrefix(f.Network, "/") {
		return nil // on one machine its disk tells
	}
	local := action.Volume(ctx, on, f.Node, f.Volume)
	for _, network := range action.Volume(ctx, on, f.Node, f.Network) {
		if slices.Contains(local, network) {
			return f.oneVolume()
		}
	}
	return nil
}

// leg is what the network leg says of itself, on the machine where it is to be or on that where it is now. A device is one of the machine where it is now, if
// that is said. The disk that is to become the local leg is refused as the network leg.
func (f *fits) leg(ctx context.Context, on *cluster.Cluster, m infra.Machine, local string) (super superdisk.Superblock, known bool, err error) {
	type place struct {
		infra.Machine
		here bool
	}
	at := []place{{m, true}, {f.now(ctx, on), false}}
	if strings.HasPrefix(f.Network, "/") && f.From != "" {
		at = at[1:]
	}
	for _, has := range at {
		if has.Machine == nil {
			continue
		}
		device, err := deviceOf(ctx, on, has.Machine, f.Node, f.Network)
		if errors.Is(err, infra.ErrNotAttached) {
			continue
		}
		if err != nil {
			return super, false, refuse(err)
		}
		if has.here && device == local {
			return super, false, f.oneVolume()
		}
		super, err = superdisk.ReadSuperblock(ctx, has.Machine, device)
		if errors.Is(err, superdisk.ErrNoSuperblock) {
			continue // whoever starts the array from it refuses it
		}
		return super, err == nil, err
	}
	return super, false, nil
}

// now is the machine that has the network volume now, nil if that is not known.
func (f *fits) now(ctx context.Context, on *cluster.Cluster) infra.Machine {
	if f.From == "" {
		return nil
	}
	m, err := on.Machine(ctx, f.From)
	if err != nil {
		return nil
	}
	return m
}

// Act looks again.
func (f *fits) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	r, err := f.Check(ctx, on)
	if err == nil && len(r.Awaits) > 0 {
		err = r.Awaits[0].Refusal
	}
	return r.Observed, err
}

// Verify has nothing to add: the act has looked.
func (f *fits) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
