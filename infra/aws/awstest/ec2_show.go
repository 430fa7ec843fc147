package awstest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unheard is what looks show of a volume of which not everybody has heard yet.
const unheard = "unheard"

func (s *EC2) describeVolumes(q url.Values) (string, error) {
	ids := listIn(q, "VolumeId")
	named := ids != nil
	if !named {
		ids = slices.Sorted(maps.Keys(s.volumes))
	}
	const page = 5 // EC2's are of 500 and more
	first, _ := strconv.Atoi(q.Get("NextToken"))
	var all []string
	for _, id := range ids {
		v, err := s.volume(id)
		if err != nil {
			return "", err
		}
		text := s.shownVolume(v)
		if v.unseen > 0 {
			v.unseen--
			text = v.shown
		}
		if text == unheard {
			if named {
				return "", refuse("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
			}
			continue
		}
		fit, err := fits(q, "status", v.status(s.now()), v.tags)
		if err != nil {
			return "", err
		}
		if fit {
			all = append(all, text)
		}
	}
	last := min(first+page, len(all))
	next := ""
	if last < len(all) {
		next = el("nextToken", strconv.Itoa(last))
	}
	return "<volumeSet>" + strings.Join(all[first:last], "") + "</volumeSet>" + next, nil
}

func (v *ebs) status(now time.Time) string {
	switch {
	case v.attachment != "":
		return "in-use"
	case v.target == nil && now.Before(v.ends):
		return "creating"
	}
	return "available"
}

func (s *EC2) shownVolume(v *ebs) string { return "<item>" + s.insideVolume(v) + "</item>" }

func (s *EC2) insideVolume(v *ebs) string {
	attachments := ""
	if v.attachment != "" {
		attachments = "<item>" + el("volumeId", v.id) + el("instanceId", v.instance) + el("device", v.device) + el("status", v.attachment) + "</item>"
	}
	return el("volumeId", v.id) + elNumber("size", v.size) + el("availabilityZone", v.zone) + el("status", v.status(s.now())) +
		el("createTime", v.made.UTC().Format(time.RFC3339)) + el("volumeType", v.kind) + elNumber("iops", v.iops) + elNumber("throughput", v.throughput) +
		"<attachmentSet>" + attachments + "</attachmentSet>" + ec2TagsXML(v.tags)
}
