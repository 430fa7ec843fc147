package aws

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"plimsoll/hint"
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
			err = &hint.PermanentError{Reason: err.Error(), Advice: "a volume was made for the same step with other parameters: look at it, and delete it if it is not needed"}
		}
		return made, err
	}
	return v.created(ctx, e, sdk.ToString(out.VolumeId), spec)
}

// creating is the request for a volume.
func creating(spec infra.VolumeSpec) (*ec2.CreateVolumeInput, error) {
	switch {
	case spec.Size <= 0 || spec.Size%gib != 0:
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("a volume of %d bytes", spec.Size), Advice: "EBS makes volumes of whole GiB, such as mib: 102400"}
	case spec.Throughput%mib != 0:
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("a throughput of %d bytes a second", spec.Throughput), Advice: "EBS takes whole MiB a second"}
	case spec.Zone == "":
		return nil, &hint.PermanentError{Reason: "it is not said in which zone the volume is to be", Advice: "zone: the one of the machine that it is for, such as ap-northeast-2a; a volume never leaves its zone"}
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
			err = &hint.PermanentError{Reason: "volume " + id + " could not be made", Advice: "often its key cannot be used: look at its encryption in the console, and delete it"}
		}
		return made.State != infra.VolumeCreating, err
	})
	switch {
	case errors.Is(err, errTooLong):
		err = hint.With(fmt.Errorf("volume %s is not available after %v", id, p.Create), "look at it in the console; the same step finds it again")
	case err == nil && made.Size != spec.Size:
		err = &hint.PermanentError{Reason: fmt.Sprintf("volume %s was made for the same step and has %d GiB, not %d", id, made.Size/gib, spec.Size/gib), Advice: "delete it, if it is not needed"}
	}
	return made, err
}

// Tag adds tags, and returns when they are seen: what they say may be asked for from another machine at once.
func (v *Volumes) Tag(ctx context.Context, id string, tags map[string]string) error {
	e, err := v.API(ctx)
	if err != nil {
		return err
	}
	return v.tag(ctx, e, id, tags)
}

func (v *Volumes) tag(ctx context.Context, e *EC2, id string, tags map[string]string) error {
	if _, err := e.volume(ctx, id); err != nil { // EC2 takes tags for what is not there any more
		return err
	}
	_, err := e.calls.createTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: ec2TagList(tags)})
	if err != nil {
		return explainEC2("CreateTags", err)
	}
	p := v.Patience.orDefault()
	err = p.await(ctx, p.Create, func(ctx context.Context) (bool, error) {
		w, err := e.volume(ctx, id)
		return err == nil && carriesExactly(ec2TagsOf(w.Tags), tags), err
	})
	if errors.Is(err, errTooLong) {
		err = fmt.Errorf("volume %s does not show its tags after %v", id, p.Create)
	}
	return err
}

// untag removes a tag.
func (v *Volumes) untag(ctx context.Context, e *EC2, id, key string) error {
	_, err := e.calls.deleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: &key}}})
	return explainEC2("DeleteTags", err)
}

func carriesExactly(has, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, there := has[key]; !there || got != value {
			return false
		}
	}
	return true
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
