package aws

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Create makes a volume of gp3, or of the kind that is said, in a zone.
func (v *Volumes) Create(ctx context.Context, spec infra.VolumeSpec) (made infra.Volume, err error) {
	e, err := v.API(ctx)
	if err != nil {
		return made, err
	}
	in, err := creating(spec)
	if err != nil {
		return made, err
	}
	if spec.Token != "" { // EC2 forgets tokens one day; the tag does not
		before, err := v.List(ctx, map[string]string{TokenTag: spec.Token})
		if err != nil {
			return made, err
		}
		if len(before) > 0 {
			return v.created(ctx, e, before[0].ID, spec)
		}
	}
	out, err := e.calls.createVolume(ctx, in)
	if err = explainEC2("CreateVolume", err); err != nil {
		if isCode(err, codeOtherParameters) {
			err = &hint.PermanentError{Reason: err.Error(), Advice: "the same step has created a volume with other parameters: check it, and delete it if it is not needed"}
		}
		return made, err
	}
	return v.created(ctx, e, sdk.ToString(out.VolumeId), spec)
}

// creating is the request for a volume.
func creating(spec infra.VolumeSpec) (*ec2.CreateVolumeInput, error) {
	switch {
	case spec.Size <= 0 || spec.Size%gib != 0:
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("a volume of %d bytes", spec.Size), Advice: "EBS creates volumes of whole GiB, such as mib: 102400"}
	case spec.Throughput%mib != 0:
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("a throughput of %d bytes a second", spec.Throughput), Advice: "EBS accepts whole MiB per second"}
	case spec.Zone == "":
		return nil, &hint.PermanentError{Reason: "the availability zone of the volume is missing", Advice: "set zone: to the zone of its machine, such as ap-northeast-2a; a volume never leaves its zone"}
	}
	token := sha256.Sum256([]byte(spec.Token))
	if spec.Token == "" {
		_, _ = rand.Read(token[:]) // never fails; it makes a second try after a lost answer safe
	}
	tags := map[string]string{}
	maps.Copy(tags, spec.Tags)
	if spec.Token != "" {
		tags[TokenTag] = spec.Token
	}
	in := &ec2.CreateVolumeInput{
		ClientToken: sdk.String(hex.EncodeToString(token[:])), Size: number(int(spec.Size / gib)), AvailabilityZone: text(spec.Zone),
		VolumeType: types.VolumeTypeGp3, Iops: number(spec.IOPS), Throughput: number(int(spec.Throughput / mib)),
	}
	if spec.Kind != "" {
		in.VolumeType = types.VolumeType(spec.Kind)
	}
	if len(tags) > 0 {
		in.TagSpecifications = []types.TagSpecification{{ResourceType: types.ResourceTypeVolume, Tags: ec2TagList(tags)}}
	}
	return in, nil
}

// created waits for a volume to be available.
func (v *Volumes) created(ctx context.Context, e *EC2, id string, spec infra.VolumeSpec) (made infra.Volume, err error) {
	p := v.Patience.orDefault()
	err = p.await(ctx, p.Create, func(ctx context.Context) (bool, error) {
		w, err := e.volume(ctx, id)
		if errors.Is(err, infra.ErrNoVolume) {
			return false, nil // not everybody has heard of it yet
		}
		made = w.volume()
		if err == nil && made.State == infra.VolumeError {
			err = &hint.PermanentError{Reason: "volume " + id + " could not be made", Advice: "a common cause is an encryption key that cannot be used: check its encryption in the console, and delete it"}
		}
		return made.State != infra.VolumeCreating, err
	})
	switch {
	case errors.Is(err, errTooLong):
		err = hint.With(fmt.Errorf("volume %s is not available after %v", id, p.Create), "check it in the console; the same step finds it again")
	case err == nil && made.Size != spec.Size:
		err = &hint.PermanentError{Reason: fmt.Sprintf("the same step has created volume %s with %d GiB, not %d", id, made.Size/gib, spec.Size/gib), Advice: "delete it, if it is not needed"}
	}
	return made, err
}

// Delete removes a volume.
func (v *Volumes) Delete(ctx context.Context, id string) error {
	e, err := v.API(ctx)
	if err != nil {
		return err
	}
	_, err = e.calls.deleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: &id})
	switch err = explainEC2("DeleteVolume", err); {
	case errors.Is(err, infra.ErrNoVolume):
		return nil
	case isCode(err, codeVolumeInUse):
		return fmt.Errorf("%s: %w: %w", id, infra.ErrVolumeInUse, err)
	case err != nil:
		return err
	}
	p := v.Patience.orDefault()
	err = p.await(ctx, p.Create, func(ctx context.Context) (bool, error) {
		_, err := e.volume(ctx, id)
		if errors.Is(err, infra.ErrNoVolume) {
			return true, nil
		}
		return false, err
	})
	if errors.Is(err, errTooLong) {
		err = fmt.Errorf("volume %s is still there %v after it was deleted", id, p.Create)
	}
	return err
}
