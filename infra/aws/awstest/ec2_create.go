package awstest

import (
	"net/url"

	"plimsoll/infra"
)

// creation is what was asked for with a client token.
type creation struct{ volume, asked string }

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
