package awstest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
)

// ebs is a volume of the stand-in.
type ebs struct {
	id, zone, kind   string
	size, iops       int
	throughput       int
	tags             map[string]string
	made             time.Time
	instance, device string
	attachment       string // attaching, attached, detaching, busy; "": none
	ends             time.Time
	inUse            bool // something in the machine uses it: it is detached by force only
	endless          bool // what is under way with its attachment never ends
	shown            string
	unseen           int
	target           *ebsChange
	changes          []time.Time // when it was modified
}

// ebsChange is a modification of a volume.
type ebsChange struct {
	size, iops, throughput int
	kind                   string
	ends                   time.Time // of modifying; then it is optimised for as long again
}

// creation is what was asked for with a client token.
type creation struct{ volume, asked string }

// Use says whether something in its machine uses a volume, as a mounted file system does.
func (s *EC2) Use(volume string, used bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.volumes[volume].inUse = used
}

// Endless has what is under way with a volume's attachment never end.
func (s *EC2) Endless(volume string, endless bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.volumes[volume].endless = endless
}

// AddVolume puts a volume that is attached to an instance, or to none.
func (s *EC2) AddVolume(zone string, gib int, tags map[string]string, instance string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &ebs{id: s.id("vol"), zone: zone, size: gib, kind: "gp3", iops: 3000, throughput: 125, tags: maps.Clone(tags), made: s.now()}
	if instance != "" {
		v.instance, v.device, v.attachment = instance, "/dev/sdf", "attached"
	}
	s.volumes[v.id] = v
	return v.id
}

// Has is which instance really has a volume.
func (s *EC2) Has(volume string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.volume(volume)
	if err != nil {
		return ""
	}
	return v.instance
}

func (v *ebs) released() { v.instance, v.device, v.attachment, v.inUse = "", "", "", false }

// volume is a volume after what time did to it.
func (s *EC2) volume(id string) (*ebs, error) {
	if !strings.HasPrefix(id, "vol-") {
		return nil, refuse("InvalidVolumeID.Malformed", "Invalid id: \"%s\"", id)
	}
	v, there := s.volumes[id]
	if !there {
		return nil, refuse("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
	}
	if c := v.target; c != nil && s.now().After(c.ends) {
		v.size, v.iops, v.throughput, v.kind = c.size, c.iops, c.throughput, c.kind
	}
	if v.endless || s.now().Before(v.ends) {
		return v, nil
	}
	switch {
	case v.attachment == "attaching":
		v.attachment = "attached"
	case v.attachment == "detaching" && v.inUse:
		v.attachment = "busy"
	case v.attachment == "detaching", v.attachment == "busy" && !v.inUse:
		v.released()
	}
	return v, nil
}

// begin has a volume become something, which the next looks do not show yet.
func (s *EC2) begin(v *ebs, attachment string) {
	v.shown, v.unseen = s.shownVolume(v), s.Unseen
	v.attachment, v.ends = attachment, s.now().Add(s.Takes)
}

func (s *EC2) createVolume(q url.Values) (string, error) {
	asked := url.Values{}
	for name, value := range q {
		if name != "ClientToken" {
			asked[name] = value
		}
	}
	token := q.Get("ClientToken")
	if before, known := s.made[token]; known && token != "" {
		if before.asked != asked.Encode() {
			return "", refuse("IdempotentParameterMismatch", "The request uses the same client token as a previous, but non-identical request.")
		}
		v, err := s.volume(before.volume)
		if err != nil {
			return "", err
		}
		return s.insideVolume(v), nil
	}
	v := &ebs{zone: q.Get("AvailabilityZone"), kind: q.Get("VolumeType"), tags: pairsIn(q, "TagSpecification.1.Tag"), made: s.now()}
	v.size, v.iops, v.throughput = numberIn(q, "Size"), numberIn(q, "Iops"), numberIn(q, "Throughput")
	if v.zone == "" {
		return "", refuse("MissingParameter", "The request must contain the parameter zone")
	}
	if len(v.tags) > 0 && q.Get("TagSpecification.1.ResourceType") != "volume" {
		return "", refuse("InvalidParameterValue", "The tag specification is of another resource")
	}
	if err := v.usual(); err != nil {
		return "", err
	}
	if s.Behind != nil {
		real, err := s.Behind.Create(background(), infra.VolumeSpec{Size: int64(v.size) << 30})
		if err != nil {
			return "", refuse("InternalError", "%v", err)
		}
		v.id = real.ID
	} else {
		v.id = s.id("vol")
	}
	s.volumes[v.id] = v
	v.ends, v.unseen, v.shown = s.now().Add(s.Takes), s.Unseen, unheard
	if token != "" {
		s.made[token] = creation{v.id, asked.Encode()}
	}
	return s.insideVolume(v), nil
}

// unheard is what looks show of a volume of which not everybody has heard yet.
const unheard = "unheard"

// usual fills in what EC2 does, and refuses what it refuses.
func (v *ebs) usual() error {
	if v.kind == "" {
		v.kind = "gp2"
	}
	switch v.kind {
	case "gp2":
		if v.iops != 0 || v.throughput != 0 {
			return refuse("InvalidParameterCombination", "The parameter iops is not supported for gp2 volumes.")
		}
		v.iops = min(max(3*v.size, 100), 16000)
	case "gp3":
		if v.iops == 0 {
			v.iops = 3000
		}
		if v.throughput == 0 {
			v.throughput = 125
		}
		if v.iops < 3000 || v.iops > max(3000, 500*v.size) || v.throughput < 125 || v.throughput*4 > v.iops {
			return refuse("InvalidParameterValue", "Volume iops of %d or throughput of %d is out of the range of a gp3 volume of %d GiB.", v.iops, v.throughput, v.size)
		}
	case "io1", "io2":
		if v.iops == 0 {
			return refuse("MissingParameter", "The parameter iops must be specified for %s volumes.", v.kind)
		}
	default:
		return refuse("UnknownVolumeType", "Unsupported volume type '%s' for volume creation.", v.kind)
	}
	if v.size < 1 || v.size > 65536 {
		return refuse("InvalidParameterValue", "Volume of %d GiB is out of range.", v.size)
	}
	return nil
}

func (s *EC2) deleteVolume(q url.Values) (string, error) {
	v, err := s.volume(q.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	if v.attachment != "" {
		return "", refuse("VolumeInUse", "Volume %s is currently attached to %s", v.id, v.instance)
	}
	if s.Behind != nil {
		if err := s.Behind.Delete(background(), v.id); err != nil {
			return "", refuse("InternalError", "%v", err)
		}
	}
	delete(s.volumes, v.id)
	return el("return", "true"), nil
}

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
