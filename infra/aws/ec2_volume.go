package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"plimsoll/infra"
)

// Volumes are those of EBS in one account and region, and in one zone each.
//
// Attaching, detaching and modifying have no idempotency token: what was done is told by looking. An answer may show what was before, so
// every change is waited for until it is seen.
type Volumes struct {
	// API reaches the API; it is called when something is asked for.
	API func(ctx context.Context) (*EC2, error)
	// Inside returns the machine that is an instance, to see a volume there by its serial; nil: none is known.
	Inside   func(ctx context.Context, instance string) (infra.Machine, error)
	Patience Patience
}

var _ infra.Volumes = &Volumes{}

const (
	gib = 1 << 30
	mib = 1 << 20
	// forcedTag is on a volume that was taken by force: from which instance.
	forcedTag = "plimsoll:forced-from"
)

// ebsVolume is a volume as the API shows it.
type ebsVolume struct{ types.Volume }

// busy says that EC2 waits for a machine to let go of it.
func (w ebsVolume) busy() bool {
	return slices.ContainsFunc(w.Attachments, func(a types.VolumeAttachment) bool { return a.State == types.VolumeAttachmentStateBusy })
}

func (w ebsVolume) volume() infra.Volume {
	tags := ec2TagsOf(w.Tags)
	v := infra.Volume{ID: sdk.ToString(w.VolumeId), State: infra.VolumeState(w.State), Made: sdk.ToTime(w.CreateTime), ForcedFrom: tags[forcedTag]}
	v.VolumeSpec = infra.VolumeSpec{
		Size: int64(sdk.ToInt32(w.Size)) * gib, IOPS: int(sdk.ToInt32(w.Iops)), Throughput: int64(sdk.ToInt32(w.Throughput)) * mib,
		Kind: string(w.VolumeType), Zone: sdk.ToString(w.AvailabilityZone), Token: tags[TokenTag], Tags: tags,
	}
	delete(tags, TokenTag)
	delete(tags, forcedTag)
	for _, a := range w.Attachments {
		if a.State == types.VolumeAttachmentStateDetached {
			continue
		}
		v.Machine = sdk.ToString(a.InstanceId)
		switch a.State {
		case types.VolumeAttachmentStateAttached:
			v.State = infra.VolumeInUse
		case types.VolumeAttachmentStateAttaching:
			v.State = infra.VolumeAttaching
		default:
			v.State = infra.VolumeDetaching
		}
	}
	if v.Machine == "" && v.State == infra.VolumeInUse {
		v.State = infra.VolumeDetaching // its attachment went first
	}
	return v
}

// volumes asks for volumes; those that are being deleted are there no more.
func (e *EC2) volumes(ctx context.Context, in *ec2.DescribeVolumesInput) (all []ebsVolume, err error) {
	for {
		page, err := e.calls.describeVolumes(ctx, in)
		if err != nil {
			return nil, explainEC2("DescribeVolumes", err)
		}
		for _, v := range page.Volumes {
			if v.State != types.VolumeStateDeleting && v.State != types.VolumeStateDeleted {
				all = append(all, ebsVolume{v})
			}
		}
		if in.NextToken = page.NextToken; sdk.ToString(in.NextToken) == "" {
			return all, nil
		}
	}
}

func (e *EC2) volume(ctx context.Context, id string) (ebsVolume, error) {
	if !strings.HasPrefix(id, "vol-") {
		return ebsVolume{}, fmt.Errorf("%s: %w", id, infra.ErrNoVolume)
	}
	all, err := e.volumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{id}})
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%s: %w", id, infra.ErrNoVolume)
	}
	if err != nil {
		return ebsVolume{}, err
	}
	return all[0], nil
}

// Describe returns a volume.
func (v *Volumes) Describe(ctx context.Context, id string) (infra.Volume, error) {
	e, err := v.API(ctx)
	if err != nil {
		return infra.Volume{}, err
	}
	w, err := e.volume(ctx, id)
	return w.volume(), err
}

// List returns the volumes of the region that carry these tags.
func (v *Volumes) List(ctx context.Context, tags map[string]string) (all []infra.Volume, err error) {
	e, err := v.API(ctx)
	if err != nil {
		return nil, err
	}
	found, err := e.volumes(ctx, &ec2.DescribeVolumesInput{Filters: filters(tags)})
	for _, w := range found {
		all = append(all, w.volume())
	}
	slices.SortFunc(all, func(a, b infra.Volume) int { return strings.Compare(a.ID, b.ID) })
	return all, err
}
