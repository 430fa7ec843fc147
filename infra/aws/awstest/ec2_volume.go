package awstest

import (
	"maps"
	"strings"
	"time"
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
