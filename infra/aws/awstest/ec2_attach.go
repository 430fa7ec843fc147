package awstest

import (
	"errors"
	"net/url"
	"time"

	"plimsoll/infra"
)

func (s *EC2) attachVolume(q url.Values) (string, error) {
	v, err := s.volume(q.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	i, err := s.machine(q.Get("InstanceId"))
	if err != nil {
		return "", err
	}
	device := q.Get("Device")
	switch {
	case device == "":
		return "", refuse("MissingParameter", "The request must contain the parameter device")
	case v.attachment != "":
		return "", refuse("VolumeInUse", "%s is already attached to an instance", v.id)
	case v.status(s.now()) != "available":
		return "", refuse("IncorrectState", "Volume '%s' is not 'available'.", v.id)
	case i.state != "running" && i.state != "stopped":
		return "", refuse("IncorrectState", "Instance '%s' is not 'running'.", i.ID)
	case v.zone != i.Zone:
		return "", refuse("InvalidVolume.ZoneMismatch", "The volume '%s' is not in the same availability zone as instance '%s'", v.id, i.ID)
	}
	attached := 0
	for _, other := range s.volumes {
		if other.instance != i.ID {
			continue
		}
		if attached++; other.device == device {
			return "", refuse("InvalidParameterValue", "Invalid value '%s' for unixDevice. Attachment point %s is already in use", device, device)
		}
	}
	if attached >= 27 {
		return "", refuse("AttachmentLimitExceeded", "The instance '%s' has the most volumes that it can have", i.ID)
	}
	if s.Behind != nil && i.state == "running" {
		if err := s.Behind.Attach(background(), v.id, i.ID); err != nil {
			return "", refuse("InternalError", "%v", err)
		}
	}
	s.begin(v, "attaching")
	v.instance, v.device = i.ID, device
	return el("volumeId", v.id) + el("instanceId", i.ID) + el("device", device) + el("status", "attaching"), nil
}

func (s *EC2) detachVolume(q url.Values) (string, error) {
	v, err := s.volume(q.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	instance, forced := q.Get("InstanceId"), q.Get("Force") == "true"
	switch {
	case v.attachment == "":
		return "", refuse("IncorrectState", "Volume '%s' is in the 'available' state.", v.id)
	case instance != "" && instance != v.instance:
		return "", refuse("InvalidAttachment.NotFound", "The volume '%s' is not attached to instance '%s'", v.id, instance)
	}
	if s.Behind != nil {
		detach := s.Behind.Detach
		if forced {
			detach = s.Behind.ForceDetach
		}
		err := detach(background(), v.id, v.instance)
		switch {
		case errors.Is(err, infra.ErrVolumeBusy):
			v.inUse = true
		case err != nil && !errors.Is(err, infra.ErrNotAttached):
			return "", refuse("InternalError", "%v", err)
		}
	}
	if forced {
		v.inUse, v.endless = false, v.endless && v.attachment != "attaching" // an attachment that never ends is ended by force
	}
	s.begin(v, "detaching")
	return el("volumeId", v.id) + el("instanceId", v.instance) + el("device", v.device) + el("status", "detaching"), nil
}

func (s *EC2) modifyVolume(q url.Values) (string, error) {
	v, err := s.volume(q.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	next := *v
	for name, into := range map[string]*int{"Size": &next.size, "Iops": &next.iops, "Throughput": &next.throughput} {
		if n := numberIn(q, name); n != 0 {
			*into = n
		}
	}
	if kind := q.Get("VolumeType"); kind != "" && kind != v.kind {
		next.kind, next.iops, next.throughput = kind, numberIn(q, "Iops"), numberIn(q, "Throughput")
	}
	if next.size < v.size {
		return "", refuse("InvalidParameterValue", "New size cannot be smaller than existing size")
	}
	if err := next.usual(); err != nil {
		return "", err
	}
	if v.target != nil && s.now().Before(v.target.ends.Add(s.Takes)) {
		return "", refuse("IncorrectModificationState", "Cannot modify volume %s: it is being modified or optimized", v.id)
	}
	const often = 4 // in a day
	day := 0
	for _, at := range v.changes {
		if s.now().Sub(at) < 24*time.Hour {
			day++
		}
	}
	if day >= often {
		return "", refuse("VolumeModificationRateExceeded", "You've reached the maximum modification rate per volume limit.")
	}
	if s.Behind != nil && next.size != v.size {
		if err := s.Behind.Modify(background(), v.id, infra.VolumeSpec{Size: int64(next.size) << 30}); err != nil {
			return "", refuse("InternalError", "%v", err)
		}
	}
	v.shown, v.unseen = s.shownVolume(v), s.Unseen
	v.changes = append(v.changes, s.now())
	v.target = &ebsChange{next.size, next.iops, next.throughput, next.kind, s.now().Add(s.Takes)}
	return s.modificationXML("volumeModification", v), nil
}

func (s *EC2) modificationXML(name string, v *ebs) string {
	state := "completed"
	switch c := v.target; {
	case s.now().Before(c.ends):
		state = "modifying"
	case s.now().Before(c.ends.Add(s.Takes)):
		state = "optimizing"
	}
	return "<" + name + ">" + el("volumeId", v.id) + el("modificationState", state) + elNumber("targetSize", v.target.size) + elNumber("targetIops", v.target.iops) +
		elNumber("targetThroughput", v.target.throughput) + el("targetVolumeType", v.target.kind) + "</" + name + ">"
}

func (s *EC2) describeModifications(q url.Values) (string, error) {
	v, err := s.volume(q.Get("VolumeId.1"))
	if err != nil {
		return "", err
	}
	if v.target == nil {
		return "", refuse("InvalidVolumeModification.NotFound", "Modification for volume '%s' does not exist.", v.id)
	}
	return "<volumeModificationSet>" + s.modificationXML("item", v) + "</volumeModificationSet>", nil
}
