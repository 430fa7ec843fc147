package aws

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Detach detaches a volume that nothing in the machine uses.
func (v *Volumes) Detach(ctx context.Context, id, machine string) error {
	e, is, err := v.on(ctx, id, machine)
	if err != nil {
		return err
	}
	m, err := e.Machine(ctx, machine)
	if err != nil && !errors.Is(err, infra.ErrNoMachine) {
		return err
	}
	if m.State == "running" {
		if err := v.unused(ctx, is, machine); err != nil {
			return err
		}
	}
	return v.part(ctx, e, is, &ec2.DetachVolumeInput{VolumeId: &id, InstanceId: &machine})
}

// ForceDetach takes a volume from an instance, whatever it does with it. Whence is written on the volume first: until that instance is
// seen stopped, or has it again, no other gets it.
func (v *Volumes) ForceDetach(ctx context.Context, id, machine string) error {
	e, is, err := v.on(ctx, id, machine)
	if err != nil {
		return err
	}
	if err := v.tag(ctx, e, id, map[string]string{forcedTag: machine}); err != nil {
		return fmt.Errorf("record on %s which machine it is detached from: %w", id, err)
	}
	return v.part(ctx, e, is, &ec2.DetachVolumeInput{VolumeId: &id, InstanceId: &machine, Force: sdk.Bool(true)})
}

// on finds a volume that an instance has.
func (v *Volumes) on(ctx context.Context, id, machine string) (*EC2, infra.Volume, error) {
	e, err := v.API(ctx)
	if err != nil {
		return nil, infra.Volume{}, err
	}
	w, err := e.volume(ctx, id)
	is := w.volume()
	if err == nil && is.Machine != machine {
		err = fmt.Errorf("%s and %s: %w", id, machine, infra.ErrNotAttached)
	}
	return e, is, err
}

// unused refuses a volume that something in the machine uses: EC2 would wait for that to end.
func (v *Volumes) unused(ctx context.Context, is infra.Volume, machine string) error {
	inside, err := v.inside(ctx, machine)
	if inside == nil || err != nil {
		return err
	}
	d, err := infra.Device(ctx, inside, is.Serial())
	if errors.Is(err, infra.ErrNotAttached) {
		return nil
	}
	if err != nil {
		return hint.With(fmt.Errorf("check whether %s is in use on %s: %w", is.ID, machine, err), "if the machine is lost, stop it first and detach the volume by force")
	}
	for _, users := range [][]string{d.Holders, d.Mounted} {
		if len(users) > 0 {
			return hint.With(fmt.Errorf("%s is used by %v: %w", is.ID, users, infra.ErrVolumeBusy), "unmount it or take it out of its array first, or detach it by force")
		}
	}
	return nil
}

// part asks for the volume to be detached and waits until it is.
func (v *Volumes) part(ctx context.Context, e *EC2, is infra.Volume, in *ec2.DetachVolumeInput) error {
	forced, machine := in.Force != nil, *in.InstanceId
	if forced || is.State != infra.VolumeDetaching {
		_, err := e.calls.detachVolume(ctx, in)
		if err = explainEC2("DetachVolume", err); err != nil && !isCode(err, codeIncorrectState, codeNoAttachment) { // these: it is detached, and the answer was lost
			return err
		}
	}
	p := v.Patience.orDefault()
	busy := 0
	err := p.await(ctx, p.Detach, func(ctx context.Context) (bool, error) {
		w, err := e.volume(ctx, is.ID)
		is = w.volume()
		if w.busy() && !forced {
			if busy++; err == nil && busy > int(p.Busy/p.Every) {
				return false, hint.With(fmt.Errorf("%s on %s: %w", is.ID, machine, infra.ErrVolumeBusy),
					"a process in the machine uses it: unmount it or stop its array, and EC2 detaches it then; or detach it by force")
			}
		}
		return is.State == infra.VolumeAvailable, err
	})
	if errors.Is(err, errTooLong) {
		err = &hint.PermanentError{
			Reason: fmt.Sprintf("volume %s is %s, %v after the request to detach it from %s", is.ID, is.State, p.Detach, machine),
			Advice: "stop " + machine + " and verify that it is stopped, which ends the attachment; then plimsoll runbook resume RUN",
		}
	}
	return err
}
