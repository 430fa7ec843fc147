package superdisk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var detachAction = action.Action{
	Name: "superdisk.detach", Version: 1,
	About: "Removes a leg from an array, which continues with the other leg. Refused when the other leg is not in step.",
	New: func() action.Task {
		return &detach{array: array{Array: usual}, Leg: string(superdisk.Network)}
	},
}

type detach struct {
	array

	Leg string `yaml:"leg" doc:"network or local. Default network."`
}

var (
	_ action.Undoer    = (*detach)(nil)
	_ action.Validator = (*detach)(nil)
)

func (d *detach) Validate() error { return roleOf(d.Leg) }

func roleOf(leg string) error {
	if leg != string(superdisk.Network) && leg != string(superdisk.Local) {
		return errors.New("leg is network or local")
	}
	return nil
}

func (d *detach) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (d *detach) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, s, a, found, err := d.look(ctx, on)
	r := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{d.Leg + " leg": "out of the array"}}
	if err != nil {
		return r, err
	}
	if !found {
		return d.noArray(ctx, m, s), nil
	}
	leg, in := a.Leg(superdisk.Role(d.Leg))
	if !in {
		r.State = action.Satisfied
		return recorded(ctx, on, a, r)
	}
	for _, other := range a.Legs {
		if other.Device != leg.Device && other.InStep() && a.Sync == nil {
			return r, nil
		}
	}
	if leg.Faulty() {
		return r, nil
	}
	return r, &hint.PermanentError{Reason: fmt.Sprintf("the %s leg is the only one of %s that is in step", d.Leg, a.Label()), Advice: "rebuild the other first: superdisk/rebuild -i node=" + d.Node}
}

func (d *detach) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	m, a, err := d.there(ctx, on)
	if err != nil {
		return nil, err
	}
	leg, in := a.Leg(superdisk.Role(d.Leg))
	if !in {
		return nil, note(ctx, on, m)
	}
	if !leg.Faulty() {
		if err := fail(ctx, on, m, a, leg); err != nil {
			return nil, err
		}
	}
	if err := superdisk.Remove(ctx, m, a.Device, leg.Device); err != nil {
		return nil, err
	}
	return action.Facts{"device": leg.Device, "volume": leg.Volume}, note(ctx, on, m)
}

// Undo gives it back what was written since. A leg that was out before the run first acted stays out.
func (d *detach) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if legs, known := c.Before["legs"].(string); known && !strings.Contains(", "+legs, ", "+d.Leg+" ") {
		return nil
	}
	m, a, err := d.there(ctx, on)
	if err != nil {
		return err
	}
	if leg, in := a.Leg(superdisk.Role(d.Leg)); in && !leg.Faulty() { // or md gave it up, and nobody has taken it out yet
		return errors.Join(superdisk.AwaitWhole(ctx, m, a.UUID, nil), note(ctx, on, m))
	}
	device, err := d.left(ctx, m, a)
	if err != nil {
		return err
	}
	_, err = superdisk.Rebuild{Machine: m, Array: a.UUID, Target: device, Role: superdisk.Role(d.Leg), Mark: action.Mark(c)}.Run(ctx, c.Progress)
	return errors.Join(refuse(err), note(ctx, on, m))
}

// left is the disk that was the leg. A leg of the other kind is not it, such as a local disk that was replaced and still is on the machine; of two
// that may be it, one is a copy.
func (d *detach) left(ctx context.Context, m infra.Machine, a superdisk.Array) (string, error) {
	legs, err := superdisk.LegsOf(ctx, m, a.UUID)
	if err != nil {
		return "", err
	}
	var out, ofRole []string
	for _, device := range legs {
		if leg, in := a.On(device); in && !leg.Faulty() {
			continue
		}
		super, err := superdisk.ReadSuperblock(ctx, m, device)
		if err != nil {
			return "", err
		}
		out = append(out, device)
		if string(super.Role()) == d.Leg {
			ofRole = append(ofRole, device)
		}
	}
	if len(ofRole) == 0 { // it may have lost its flag
		ofRole = out
	}
	switch len(ofRole) {
	case 0:
		return "", &hint.PermanentError{Reason: fmt.Sprintf("the %s leg is not on %s any more", d.Leg, m.Name()), Advice: "attach its volume, then superdisk/reattach-network -i node=" + d.Node}
	case 1:
		return ofRole[0], nil
	}
	return "", &hint.PermanentError{
		Reason: fmt.Sprintf("%s of %s all say that they were the %s leg of array %s", strings.Join(ofRole, ", "), m.Name(), d.Leg, a.Label()),
		Advice: "find out which are copies (a snapshot of a volume keeps what it says of its array), detach those, and repeat the undo",
	}
}
