// Package volume holds the actions on volumes: disks that live apart from machines and are attached to them.
package volume

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

// Actions lists them.
func Actions() []action.Action { return []action.Action{createAction, attachAction, detachAction} }

// onMachine are the inputs that attach and detach share.
type onMachine struct {
	Volume  string `yaml:"volume,required" doc:"The volume: its name among those of the node, such as network, n1/network of another node, or its id."`
	Node    string `yaml:"node,required" doc:"The node whose machine it is."`
	Machine string `yaml:"machine" doc:"What the provider of the volumes calls that machine, such as an instance's id. Default: the machine's own name."`
}

// machine is what the provider of the volumes calls the node's machine.
func (o onMachine) machine(ctx context.Context, on *cluster.Cluster) (string, error) {
	if on.Volumes == nil {
		return "", &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll knows no provider that attaches and detaches the volumes of %s", on.Name),
			Advice: "use a lab with machines; on EC2 name the instances of the nodes' machines in plimsoll.yaml (ec2:); elsewhere use a step with command and the provider's own tool",
		}
	}
	if o.Machine != "" {
		return o.Machine, nil
	}
	if n, err := on.Node(ctx, o.Node); err == nil && n.Host != nil {
		return n.Host.ID(ctx)
	}
	m, err := on.Machine(ctx, o.Node)
	if err != nil {
		return "", err
	}
	return m.Name(), nil
}

// look finds where the volume is.
func (o onMachine) look(ctx context.Context, on *cluster.Cluster) (v infra.Volume, machine string, err error) {
	if machine, err = o.machine(ctx, on); err != nil {
		return v, machine, err
	}
	v, err = on.Volume(ctx, o.Node, o.Volume)
	if errors.Is(err, infra.ErrNoVolume) {
		err = noVolume{&hint.PermanentError{Reason: fmt.Sprintf("there is no volume %s%s", o.Volume, o.others(ctx, on)), Advice: "name an existing one"}}
	}
	return v, machine, err
}

// noVolume says that there is no such volume.
type noVolume struct{ error }

func (e noVolume) Unwrap() error { return e.error }

// others are the volumes that the node has.
func (o onMachine) others(ctx context.Context, on *cluster.Cluster) string {
	owner, _ := cluster.VolumeOwner(o.Node, o.Volume)
	all, err := on.Volumes.List(ctx, map[string]string{cluster.NodeTag: owner})
	if err != nil || len(all) == 0 {
		return ""
	}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = fmt.Sprintf("%s (%s)", v.Tags[cluster.VolumeTag], v.ID)
	}
	return fmt.Sprintf("; %s has %s", owner, strings.Join(names, ", "))
}

func facts(v infra.Volume) action.Facts {
	at := v.Machine
	if at == "" {
		at = "nothing"
	}
	f := action.Facts{"state": string(v.State), "attached_to": at}
	if v.ForcedFrom != "" {
		f["taken_by_force_from"] = v.ForcedFrom
	}
	return f
}

var attachAction = action.Action{
	Name: "volume.attach", Version: 1,
	About: "Attaches a volume to a node's machine and waits until the machine sees it. Refused while another machine has it.",
	New:   func() action.Task { return &attach{} },
}

type attach struct {
	onMachine

	Present bool `yaml:"present" doc:"Whether a disk that the machine has already will do, by its device or serial number, also where no provider is known. Default false."`
}

var (
	_ action.Undoer  = (*attach)(nil)
	_ action.Bringer = (*attach)(nil)
)

// Brings is the disk.
func (a *attach) Brings(ctx context.Context, on *cluster.Cluster) []string {
	return action.Disk(ctx, on, a.Node, a.Volume)
}

// present tells whether the machine has the disk already, if that is asked for. Of a volume that the provider knows, the provider decides: a machine still
// shows a disk whose detach hangs. Where no provider is known, a disk that the machine has not is refused.
func (a *attach) present(ctx context.Context, on *cluster.Cluster) (action.CheckResult, bool, error) {
	r := action.CheckResult{State: action.Satisfied}
	if !a.Present {
		return r, false, nil
	}
	if on.Volumes != nil {
		_, err := on.Volume(ctx, a.Node, a.Volume)
		if !errors.Is(err, infra.ErrNoVolume) {
			return r, false, err
		}
	}
	m, err := on.Machine(ctx, a.Node)
	if err != nil {
		return r, false, err
	}
	disks, err := infra.Devices(ctx, m)
	if err != nil {
		return r, false, err
	}
	d, has, err := a.among(m, disks)
	if err != nil {
		return r, false, err
	}
	if has {
		r.Observed = action.Facts{"attached_to": m.Name()}
		return r, true, a.stays(ctx, on, m, d)
	}
	if on.Volumes == nil || strings.HasPrefix(a.Volume, "/") {
		return r, false, &hint.PermanentError{Reason: fmt.Sprintf("%s has no disk %s, and Plimsoll knows no provider that attaches it", m.Name(), a.Volume),
			Advice: "attach it first with the provider's own tool, and name it by its serial number (lsblk -o NAME,SIZE,SERIAL) or as a device"}
	}
	return r, false, nil
}

// among finds the disk, by its device or serial number. Two that tell that number are refused.
func (a *attach) among(m infra.Machine, disks []infra.BlockDevice) (infra.BlockDevice, bool, error) {
	if at := slices.IndexFunc(disks, func(d infra.BlockDevice) bool { return d.Path == a.Volume }); at >= 0 {
		return disks[at], true, nil
	}
	d, has, err := infra.WithSerial(m.Name(), disks, a.Volume, infra.VolumeSerial(a.Volume))
	if err != nil {
		err = &hint.PermanentError{Reason: err.Error(), Advice: hint.Of(err)}
	}
	return d, has, err
}

// stays refuses a disk of the machine, called by its device or its serial number, that is a volume which the provider says is not attached to it.
func (a *attach) stays(ctx context.Context, on *cluster.Cluster, m infra.Machine, d infra.BlockDevice) error {
	if on.Volumes == nil || d.Serial == "" {
		return nil
	}
	v, err := on.Volumes.Describe(ctx, superdisk.VolumeID(d.Serial))
	if errors.Is(err, infra.ErrNoVolume) {
		return nil // a disk of the machine itself
	}
	if err != nil {
		return fmt.Errorf("find the volume of %s: %w", d.Path, err)
	}
	machine, err := a.machine(ctx, on)
	if err != nil || v.Machine == machine && v.State == infra.VolumeInUse {
		return err
	}
	f := facts(v)
	return &hint.PermanentError{Reason: fmt.Sprintf("%s of %s is volume %s, which its provider says is %s, attached to %s: the detach of its disk has not ended", d.Path, m.Name(), v.ID, f["state"], f["attached_to"]),
		Advice: "wait until the machine no longer shows the disk, and name the volume by its id, so that it is attached again"}
}

func (a *attach) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *attach) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if r, has, err := a.present(ctx, on); has || err != nil {
		return r, err
	}
	v, machine, err := a.look(ctx, on)
	r := action.CheckResult{State: action.Needed, Observed: facts(v), Intended: action.Facts{"attached_to": machine}}
	var none noVolume
	switch {
	case errors.As(err, &none):
		r.Observed, r.Reason = nil, fmt.Sprintf("there is no volume %s; an earlier step creates or attaches it", a.Volume)
		r.Awaits = []action.Awaits{{Any: action.Volume(ctx, on, a.Node, a.Volume), Refusal: err}}
		return r, nil
	case err != nil:
	case v.Machine == machine && v.State == infra.VolumeInUse:
		r.State = action.Satisfied
	case v.Machine != "" && v.Machine != machine:
		r.Reason = fmt.Sprintf("it is attached to %s, and must be detached there first", v.Machine)
	case v.ForcedFrom != "" && v.ForcedFrom != machine:
		r.Reason = fmt.Sprintf("it was detached by force from %s, which must be stopped, and verified to be stopped, first", v.ForcedFrom)
	}
	return r, err
}

func (a *attach) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	if _, has, err := a.present(ctx, on); err != nil {
		return nil, err
	} else if has {
		return had(c), nil
	}
	v, machine, err := a.look(ctx, on)
	if err != nil {
		return nil, err
	}
	err = on.Volumes.Attach(ctx, v.ID, machine)
	if errors.Is(err, infra.ErrVolumeInUse) || errors.Is(err, infra.ErrNotFenced) {
		return nil, &hint.PermanentError{Reason: err.Error(), Advice: "detach it there first; a machine that may still write to it must be stopped, and verified to be stopped"}
	}
	if err == nil && v.Machine == machine && v.State == infra.VolumeInUse { // somebody else has attached it since the check
		return had(c), nil
	}
	return action.Facts{"machine": machine}, err
}

// nothingDone is the fact that an act found everything as intended: an undo has nothing to take back.
const nothingDone = "nothing_done"

// had is the output of an act that found everything as intended: by an earlier attempt, if there was one.
func had(c action.Call) action.Facts {
	if c.Attempt > 1 || c.Resumed {
		return nil
	}
	return action.Facts{nothingDone: true}
}

// Undo detaches it, unless it was attached to the machine before the step.
func (a *attach) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if c.Output[nothingDone] == true {
		return nil
	}
	v, machine, err := a.look(ctx, on)
	if err != nil || c.Before["attached_to"] == machine && c.Before["state"] != string(infra.VolumeDetaching) {
		return err
	}
	if err := on.Volumes.Detach(ctx, v.ID, machine); !errors.Is(err, infra.ErrNotAttached) {
		return err
	}
	return nil
}

var detachAction = action.Action{
	Name: "volume.detach", Version: 1,
	About: "Detaches a volume from a node's machine and waits until the machine has released it. With force, it is also detached from a machine that uses it or does not answer: I/O in progress fails.",
	New:   func() action.Task { return &detach{} },
}

type detach struct {
	onMachine

	Force bool `yaml:"force" doc:"Detach it even if it is in use or its machine does not answer. Default false."`
}

var (
	_ action.Undoer  = (*detach)(nil)
	_ action.Bringer = (*detach)(nil)
)

// Brings says that an array may have lost a leg by it.
func (d *detach) Brings(context.Context, *cluster.Cluster) []string {
	return []string{action.Array(d.Node)}
}

func (d *detach) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (d *detach) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	v, machine, err := d.look(ctx, on)
	r := action.CheckResult{State: action.Needed, Observed: facts(v), Intended: action.Facts{"attached_to": "nothing"}}
	switch {
	case err != nil || v.Machine == machine:
	case v.Machine == "":
		r.State = action.Satisfied
	default: // as after the detach and the attach of an earlier run
		r.State, r.Intended = action.Satisfied, r.Observed
		r.Reason = fmt.Sprintf("it is attached to %s, not to %s: nothing is detached, and it cannot be attached elsewhere", v.Machine, machine)
	}
	return r, err
}

func (d *detach) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	v, machine, err := d.look(ctx, on)
	if err != nil {
		return nil, err
	}
	if d.Force {
		err = on.Volumes.ForceDetach(ctx, v.ID, machine)
	} else {
		err = on.Volumes.Detach(ctx, v.ID, machine)
	}
	switch {
	case errors.Is(err, infra.ErrNotAttached):
		return had(c), nil
	case errors.Is(err, infra.ErrVolumeBusy):
		err = &hint.PermanentError{Reason: err.Error(), Advice: "unmount it and stop its array first (superdisk.stop)"}
	}
	return nil, err
}

// Undo attaches it again, unless it was not attached before the step. A machine that was lost cannot get it back: then it stays detached, which remains. Another error than that the machine
// does not run is one of the undo.
func (d *detach) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if c.Output[nothingDone] == true {
		return nil
	}
	_, err := (&attach{onMachine: d.onMachine}).Act(ctx, on, c)
	gone := errors.Is(err, infra.ErrNotRunning) || errors.Is(err, infra.ErrNoMachine)
	if !gone || !d.Force || d.Machine != "" {
		return err
	}
	n, unknown := on.Node(ctx, d.Node)
	if unknown != nil || n.Host == nil {
		return err
	}
	running, unseen := n.Host.Running(ctx)
	v, _, unread := d.look(ctx, on)
	if lost := unseen == nil && !running || errors.Is(unseen, infra.ErrNoMachine); !lost || unread != nil || v.Machine != "" {
		return err
	}
	return &action.Remains{What: "volume " + v.ID, Why: fmt.Sprintf("it stays detached, since the machine of %s, from which it was detached by force, does not run (%v); attach it when the machine runs again", d.Node, err)}
}
