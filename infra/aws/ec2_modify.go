package aws

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"plimsoll/hint"
	"plimsoll/infra"
)

// modification is a change of a volume: what it is to become.
type modification struct {
	State, Message         string // modifying, optimizing, completed, failed
	Size, IOPS, Throughput int32  // GiB, requests and MiB a second
	Type                   string
}

// is tells whether the modification makes what was asked for.
func (m modification) is(want infra.VolumeSpec) bool {
	return (want.Size == 0 || int64(m.Size)*gib == want.Size) && (want.IOPS == 0 || int(m.IOPS) == want.IOPS) &&
		(want.Throughput == 0 || int64(m.Throughput)*mib == want.Throughput) && (want.Kind == "" || m.Type == want.Kind)
}

// Modify changes a volume while it is used. EC2 makes one change at a time and four in a day; a volume serves while it is optimised.
func (v *Volumes) Modify(ctx context.Context, id string, change infra.VolumeSpec) error {
	e, err := v.API(ctx)
	if err != nil {
		return err
	}
	w, err := e.volume(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case modified(w, change):
		return nil
	case change.Size%gib != 0 || change.Throughput%mib != 0:
		return &hint.PermanentError{Reason: fmt.Sprintf("volume %s with %d bytes and %d bytes a second", id, change.Size, change.Throughput), Advice: "EBS accepts whole GiB and whole MiB per second"}
	case change.Size != 0 && change.Size < w.volume().Size:
		return &hint.PermanentError{Reason: fmt.Sprintf("%s has %d GiB and cannot have %d", id, w.volume().Size/gib, change.Size/gib), Advice: "a volume can only grow"}
	}
	_, err = e.calls.modifyVolume(ctx, &ec2.ModifyVolumeInput{
		VolumeId: &id, Size: number(int(change.Size / gib)), VolumeType: types.VolumeType(change.Kind), Iops: number(change.IOPS),
		Throughput: number(int(change.Throughput / mib)),
	})
	switch err = explainEC2("ModifyVolume", err); {
	case isCode(err, codeModifying): // another's change, or ours, whose answer was lost
		m, looked := e.modification(ctx, id)
		if looked != nil || !m.is(change) {
			return hint.With(errors.Join(err, looked), "another change of the volume is in progress: wait until it is complete (aws ec2 describe-volumes-modifications --volume-ids "+id+"), then plimsoll runbook resume RUN")
		}
	case isCode(err, codeModifiedOften):
		return hint.With(err, "EBS allows only a few changes of a volume per day: its message, or aws ec2 describe-volumes-modifications --volume-ids "+id+", shows when the last one began")
	case err != nil:
		return err
	}
	return v.inForce(ctx, e, id, change)
}

// modified tells whether a volume is as it is to be.
func modified(w ebsVolume, want infra.VolumeSpec) bool {
	return modification{Size: sdk.ToInt32(w.Size), IOPS: sdk.ToInt32(w.Iops), Throughput: sdk.ToInt32(w.Throughput), Type: string(w.VolumeType)}.is(want)
}

// inForce waits until a change is: from then on the volume is optimised for hours, and has its new limits.
func (v *Volumes) inForce(ctx context.Context, e *EC2, id string, change infra.VolumeSpec) error {
	p := v.Patience.orDefault()
	state := "not begun"
	err := p.await(ctx, p.Modify, func(ctx context.Context) (bool, error) {
		m, err := e.modification(ctx, id)
		if err != nil || !m.is(change) {
			return false, err
		}
		if state = m.State; state == "failed" {
			return false, &hint.PermanentError{Reason: fmt.Sprintf("the change of volume %s failed: %s", id, m.Message), Advice: "the volume is unchanged; change it in the console to see why"}
		}
		if state != "optimizing" && state != "completed" {
			return false, nil
		}
		w, err := e.volume(ctx, id)
		return err == nil && modified(w, change), err
	})
	if errors.Is(err, errTooLong) {
		err = hint.With(fmt.Errorf("the change of volume %s is %s after %v", id, state, p.Modify), "it continues by itself: plimsoll runbook resume RUN checks again")
	}
	return err
}

// modification is the latest change of a volume; an empty one if there was none.
func (e *EC2) modification(ctx context.Context, id string) (modification, error) {
	out, err := e.calls.describeModifications(ctx, &ec2.DescribeVolumesModificationsInput{VolumeIds: []string{id}})
	if isCode(err, codeNoModification) {
		return modification{}, nil
	}
	if err != nil || len(out.VolumesModifications) == 0 {
		return modification{}, explainEC2("DescribeVolumesModifications", err)
	}
	m := out.VolumesModifications[0]
	return modification{
		State: string(m.ModificationState), Message: sdk.ToString(m.StatusMessage), Type: string(m.TargetVolumeType),
		Size: sdk.ToInt32(m.TargetSize), IOPS: sdk.ToInt32(m.TargetIops), Throughput: sdk.ToInt32(m.TargetThroughput),
	}, nil
}
