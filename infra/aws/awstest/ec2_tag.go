package awstest

import (
	"maps"
	"net/url"
)

func (s *EC2) createTags(q url.Values) (string, error) {
	v, err := s.volume(q.Get("ResourceId.1"))
	if err != nil {
		return "", err
	}
	tags := pairsIn(q, "Tag")
	for key, value := range tags {
		if len(key) > 127 || len(value) > 255 {
			return "", refuse("InvalidParameterValue", "Tag value exceeds the maximum length of 255 characters")
		}
	}
	v.shown, v.unseen = s.shownVolume(v), s.Unseen
	v.tags = maps.Clone(v.tags)
	if v.tags == nil {
		v.tags = map[string]string{}
	}
	maps.Copy(v.tags, tags)
	return el("return", "true"), nil
}

func (s *EC2) deleteTags(q url.Values) (string, error) {
	v, err := s.volume(q.Get("ResourceId.1"))
	if err != nil {
		return "", err
	}
	for key := range pairsIn(q, "Tag") {
		delete(v.tags, key)
	}
	return el("return", "true"), nil
}
