package aws

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

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
