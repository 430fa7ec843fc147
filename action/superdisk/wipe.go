package superdisk

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var wipeAction = action.Action{
	Name: "superdisk.wipe", Version: 3,
	About: "Makes a disk blank whose array is stopped and whose data is no longer needed: wipes the superblock and the beginning of the file system.",
	New:   func() action.Task { return &wipe{} },
}

type wipe struct {
	Node   string `yaml:"node,required" doc:"The node whose machine it is."`
	Volume string `yaml:"volume,required" doc:"The disk: a device, the serial number of its disk, or the name of a volume of the node. Empty: the leg is lost, which is refused while the machine has it."`
	UUID   string `yaml:"uuid,required" doc:"The UUID of its array: a leg of another array is refused."`
	Leg    string `yaml:"leg" doc:"Which leg it is, network or local: the other leg is refused, and so is a blank disk while the machine has that leg on another one. Default: not checked."`
}

var (
	_ action.Validator = (*wipe)(nil)
	_ action.Bringer   = (*wipe)(nil)
)

func (w *wipe) Validate() error {
	if w.Leg == "" && w.Volume == "" {
		return errors.New("volume must not be empty, unless leg says which leg is lost")
	}
	if w.Leg == "" {
		return nil
	}
	return roleOf(w.Leg)
}

// Brings says that the disk may be another's afterwards.
func (w *wipe) Brings(context.Context, *cluster.Cluster) []string {
	return []string{action.Array(w.Node)}
}

func (w *wipe) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (w *wipe) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, err := on.Machine(ctx, w.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	r := action.CheckResult{State: action.Needed, Intended: action.Facts{"holds": "nothing"}}
	if w.Volume == "" {
		r.State, r.Reason = action.Satisfied, fmt.Sprintf("%s has no %s leg of that array", m.Name(), w.Leg)
		return r, w.elsewhere(ctx, m, fmt.Sprintf("no %s leg of array %s is named", w.Leg, w.UUID))
	}
	d, r, err := examined(ctx, on, m, w.Node, w.Volume, r)
	if err != nil || len(r.Awaits) > 0 {
		return r, err
	}
	r.Observed = action.Facts{"holds": d.Holds, "device": d.Device}
	switch {
	case d.Array == "":
		r.State = action.Satisfied
		return r, w.elsewhere(ctx, m, fmt.Sprintf("%s is not a leg of array %s", d.Device, w.UUID))
	case d.Array != w.UUID:
		return r, &hint.PermanentError{Reason: fmt.Sprintf("%s is a leg of array %s, not of %s", w.Volume, d.Array, w.UUID), Advice: "it belongs to another array: name the right volume"}
	}
	return r, w.role(ctx, m, d.Device)
}

// elsewhere refuses to take a leg for wiped that is on the machine, on another disk than the step says.
func (w *wipe) elsewhere(ctx context.Context, m infra.Machine, why string) error {
	if w.Leg == "" {
		return nil
	}
	legs, err := superdisk.LegsOf(ctx, m, w.UUID)
	if err != nil {
		return err
	}
	for _, device := range legs {
		super, err := superdisk.ReadSuperblock(ctx, m, device)
		if err != nil {
			return err
		}
		if string(super.Role()) == w.Leg {
			return &hint.PermanentError{Reason: fmt.Sprintf("%s, and its %s leg is %s, which would keep its data", why, w.Leg, device), Advice: "name that disk"}
		}
	}
	return nil
}

// role refuses the leg of the other kind, if the array has both.
func (w *wipe) role(ctx context.Context, m infra.Machine, device string) error {
	super, err := superdisk.ReadSuperblock(ctx, m, device)
	if err != nil || w.Leg == "" || string(super.Role()) == w.Leg {
		return err
	}
	if super.Role() == superdisk.Local { // or a network leg that has lost its flag, if no other has it
		return w.elsewhere(ctx, m, device+" is the local leg of array "+w.UUID)
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s is the %s leg of array %s, not its %s leg", device, super.Role(), w.UUID, w.Leg), Advice: "name the disk of the " + w.Leg + " leg"}
}

func (w *wipe) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, err := on.Machine(ctx, w.Node)
	if err != nil {
		return nil, err
	}
	if w.Volume == "" {
		return nil, nil
	}
	device, err := deviceOf(ctx, on, m, w.Node, w.Volume)
	if err != nil {
		return nil, refuse(err)
	}
	super, err := superdisk.ReadSuperblock(ctx, m, device)
	if errors.Is(err, superdisk.ErrNoSuperblock) || err == nil && super.UUID() != w.UUID {
		return nil, nil // an act that was interrupted had wiped it
	}
	if err != nil {
		return nil, err
	}
	if err := superdisk.StopHolders(ctx, m, device); err != nil {
		return nil, err
	}
	if err := superdisk.EraseData(ctx, m, device, super); err != nil { // else its file system would be found on the next array of this disk
		return nil, err
	}
	return nil, superdisk.Wipe(ctx, m, device)
}
