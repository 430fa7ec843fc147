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

// Attach attaches a volume to an instance and waits until EC2 and, where it is known, the machine itself show it.
func (v *Volumes) Attach(ctx context.Context, id, machine string) error {
	e, err := v.API(ctx)
	if err != nil {
		return err
	}
	w, err := e.volume(ctx, id)
	if err != nil {
		return err
	}
	m, err := e.Machine(ctx, machine)
	if err != nil {
		return fmt.Errorf("attach %s: %w", id, err)
	}
	is := w.volume()
	if err := v.attachable(ctx, e, w, is, m); err != nil {
		return err
	}
	if is.Machine == "" {
		if err := e.attach(ctx, id, m); err != nil {
			return err
		}
	}
	if err := v.attached(ctx, e, id, machine); err != nil {
		return err
	}
	if is.ForcedFrom != "" { // it is somebody's again
		if err := v.untag(ctx, e, id, forcedTag); err != nil {
			return err
		}
	}
	if m.State != "running" {
		return nil // it will show it when it runs
	}
	return v.shown(ctx, is, machine)
}

// attachable refuses what EC2 would refuse, and what it would not: a volume of which another instance may still serve what it wrote.
func (v *Volumes) attachable(ctx context.Context, e *EC2, w ebsVolume, is infra.Volume, m Machine) error {
	switch {
	case is.Machine != "" && is.Machine != m.ID:
		return fmt.Errorf("%s is %s, by %s: %w", is.ID, is.State, is.Machine, infra.ErrVolumeInUse)
	case sdk.ToBool(w.MultiAttachEnabled):
		return &hint.PermanentError{Reason: fmt.Sprintf("volume %s can be attached to several instances at once", is.ID), Advice: "two machines could write to it at the same time: use a volume without Multi-Attach"}
	case is.Zone != m.Zone:
		return &hint.PermanentError{Reason: fmt.Sprintf("volume %s is in zone %s, and instance %s in %s", is.ID, is.Zone, m.ID, m.Zone),
			Advice: "a volume never leaves its zone: use an instance in " + is.Zone + ", or copy the volume by a snapshot"}
	case m.State == "terminated":
		return terminated{&hint.PermanentError{Reason: fmt.Sprintf("instance %s is %s", m.ID, m.State), Advice: "attach a volume to an instance that is running or stopped"}}
	case m.State != "running" && m.State != "stopped":
		return &hint.PermanentError{Reason: fmt.Sprintf("instance %s is %s", m.ID, m.State), Advice: "attach a volume to an instance that is running or stopped"}
	case is.ForcedFrom == "" || is.ForcedFrom == m.ID:
		return nil
	}
	old, err := e.Machine(ctx, is.ForcedFrom)
	if errors.Is(err, infra.ErrNoMachine) || err == nil && old.Stopped() {
		return nil // one that is not shown any more was terminated more than an hour ago
	}
	if err == nil {
		err = hint.With(fmt.Errorf("volume %s was detached by force from instance %s, which is %s: %w", is.ID, old.ID, old.State, infra.ErrNotFenced),
			"stop or terminate "+old.ID+" first (superdisk.fence, or aws ec2 stop-instances --force --instance-ids "+old.ID+"): otherwise two machines serve as the same node")
	}
	return err
}

// terminated refuses for good what is asked of an instance that does not run any more.
type terminated struct{ *hint.PermanentError }

func (t terminated) Unwrap() []error { return []error{t.PermanentError, infra.ErrNotRunning} }

// attach asks for it under a name that is free. The name is only a wish: a machine calls its disks as it likes.
func (e *EC2) attach(ctx context.Context, id string, m Machine) error {
	var taken error
	for _, name := range deviceNames {
		if m.Volumes[name] != "" {
			continue
		}
		_, err := e.calls.attachVolume(ctx, &ec2.AttachVolumeInput{VolumeId: &id, InstanceId: &m.ID, Device: &name})
		switch err = explainEC2("AttachVolume", err); {
		case err == nil, isCode(err, codeVolumeInUse): // by us, and its answer was lost; or by another: it is looked at
			return nil
		case isCode(err, codeBadValue) && taken == nil: // the name is the one value that is ours to choose: it was taken meanwhile
			taken = err
			continue
		case isCode(err, codeOtherZone):
			return &hint.PermanentError{Reason: err.Error(), Advice: "a volume never leaves its zone: use an instance in the same one"}
		case isCode(err, codeTooMany):
			return &hint.PermanentError{Reason: err.Error(), Advice: "detach another volume from " + m.ID + " first, or use an instance of another type"}
		}
		return err
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("every device name of %s is in use", m.ID), Advice: "detach another volume from it first"}
}

// deviceNames are what EC2 recommends for volumes, and what it takes beyond.
var deviceNames = func() (all []string) {
	for _, c := range "fghijklmnop" {
		all = append(all, "/dev/sd"+string(c))
	}
	for _, b := range "bcd" {
		for c := 'a'; c <= 'z'; c++ {
			all = append(all, "/dev/xvd"+string(b)+string(c))
		}
	}
	return all
}()

// attached waits until EC2 shows it.
func (v *Volumes) attached(ctx context.Context, e *EC2, id, machine string) error {
	p := v.Patience.orDefault()
	var is infra.Volume
	err := p.await(ctx, p.Attach, func(ctx context.Context) (bool, error) {
		w, err := e.volume(ctx, id)
		is = w.volume()
		if err == nil && is.Machine != "" && is.Machine != machine {
			err = fmt.Errorf("%s is %s, by %s: %w", id, is.State, is.Machine, infra.ErrVolumeInUse)
		}
		return is.State == infra.VolumeInUse, err
	})
	if errors.Is(err, errTooLong) {
		err = &hint.PermanentError{
			Reason: fmt.Sprintf("volume %s is %s, %v after the request to attach it to %s", id, is.State, p.Attach, machine),
			Advice: "to end an attachment that hangs, detach it by force (aws ec2 detach-volume --force --volume-id " + id + "), or by stopping and starting " + machine + "; then plimsoll runbook resume RUN",
		}
	}
	return err
}

// shown waits until the machine has the disk, by its serial.
func (v *Volumes) shown(ctx context.Context, is infra.Volume, machine string) error {
	inside, err := v.inside(ctx, machine)
	if inside == nil || err != nil {
		return err
	}
	p := v.Patience.orDefault()
	err = p.await(ctx, p.Inside, func(ctx context.Context) (bool, error) {
		_, err := infra.Device(ctx, inside, is.Serial())
		if errors.Is(err, infra.ErrNotAttached) {
			return false, nil
		}
		return err == nil, err
	})
	if errors.Is(err, errTooLong) {
		err = hint.With(fmt.Errorf("EC2 has attached %s to %s, but the machine shows no disk with serial %s after %v", is.ID, machine, is.Serial(), p.Inside),
			"instances of the Nitro system show volumes as NVMe disks with their serial; older types cannot be used; also check that plimsoll.yaml names the right machine")
	}
	return err
}

func (v *Volumes) inside(ctx context.Context, machine string) (infra.Machine, error) {
	if v.Inside == nil {
		return nil, nil
	}
	m, err := v.Inside(ctx, machine)
	if err != nil {
		return nil, fmt.Errorf("find the machine that is %s: %w", machine, err)
	}
	return m, nil
}
