package aws

import (
	"maps"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// Every service of AWS has a type of its own for the same tags.

func ec2TagsOf(list []ec2types.Tag) map[string]string {
	return byKey(list, func(t ec2types.Tag) (key, value *string) { return t.Key, t.Value })
}

func ec2TagList(tags map[string]string) []ec2types.Tag {
	return inOrder(tags, func(key, value *string) ec2types.Tag { return ec2types.Tag{Key: key, Value: value} })
}

func rdsTagsOf(list []rdstypes.Tag) map[string]string {
	return byKey(list, func(t rdstypes.Tag) (key, value *string) { return t.Key, t.Value })
}

func rdsTagList(tags map[string]string) []rdstypes.Tag {
	return inOrder(tags, func(key, value *string) rdstypes.Tag { return rdstypes.Tag{Key: key, Value: value} })
}

func byKey[T any](list []T, read func(T) (key, value *string)) map[string]string {
	if len(list) == 0 {
		return nil
	}
	tags := map[string]string{}
	for _, t := range list {
		key, value := read(t)
		tags[sdk.ToString(key)] = sdk.ToString(value)
	}
	return tags
}

func inOrder[T any](tags map[string]string, write func(key, value *string) T) (list []T) {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, write(sdk.String(key), sdk.String(tags[key])))
	}
	return list
}
