package awstest

import (
	"maps"
	"net/url"
	"slices"
	"time"
)

// EC2Instance is an instance of the stand-in.
type EC2Instance struct {
	ID, Type, Zone, Address string
	Tags                    map[string]string
	// Endless has it stay in the state stopping for good, and Protected refuse to be stopped.
	Endless, Protected bool

	state  string
	before string // what looks show still
	unseen int
	ends   time.Time // of stopping
}

// AddInstance puts an instance that runs.
func (s *EC2) AddInstance(i EC2Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.state, i.before = "running", "running"
	if i.Type == "" {
		i.Type = "i4i.4xlarge"
	}
	s.instances[i.ID] = &i
}

// Put sets the state of an instance, as somebody else does: running, stopped, terminated; "" has it forgotten, as an hour after its end.
func (s *EC2) Put(instance, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.instances[instance]
	i.state, i.before, i.unseen = state, state, 0
	if state == "" {
		delete(s.instances, instance)
	}
	if state == "" || state == "terminated" {
		for _, v := range s.volumes {
			if v.instance == instance {
				v.released()
			}
		}
	}
}

// State is that of an instance as it really is.
func (s *EC2) State(instance string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.machine(instance)
	if err != nil {
		return ""
	}
	return i.state
}

// machine is an instance after what time did to it.
func (s *EC2) machine(id string) (*EC2Instance, error) {
	i, there := s.instances[id]
	if !there {
		return nil, refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	}
	if i.state == "stopping" && !i.Endless && s.now().After(i.ends) {
		i.state = "stopped"
	}
	return i, nil
}

func (s *EC2) describeInstances(q url.Values) (string, error) {
	ids := listIn(q, "InstanceId")
	if ids == nil {
		ids = slices.Sorted(maps.Keys(s.instances))
	}
	var all string
	for _, id := range ids {
		i, err := s.machine(id)
		if err != nil {
			return "", err
		}
		state := i.state
		if i.unseen > 0 {
			i.unseen--
			state = i.before
		}
		fit, err := fits(q, "instance-state-name", state, i.Tags)
		if err != nil {
			return "", err
		}
		if !fit {
			continue
		}
		var devices string
		for _, at := range slices.Sorted(maps.Keys(s.volumes)) {
			if v := s.volumes[at]; v.instance == id {
				devices += "<item>" + el("deviceName", v.device) + "<ebs>" + el("volumeId", v.id) + "<deleteOnTermination>false</deleteOnTermination></ebs></item>"
			}
		}
		all += "<item><instancesSet><item>" + el("instanceId", i.ID) + "<instanceState>" + el("name", state) + "</instanceState>" + el("instanceType", i.Type) +
			"<placement>" + el("availabilityZone", i.Zone) + "</placement>" + el("privateIpAddress", i.Address) +
			"<blockDeviceMapping>" + devices + "</blockDeviceMapping>" + ec2TagsXML(i.Tags) + "</item></instancesSet></item>"
	}
	return "<reservationSet>" + all + "</reservationSet>", nil
}

func (s *EC2) stopInstances(q url.Values) (string, error) {
	for _, id := range listIn(q, "InstanceId") {
		i, err := s.machine(id)
		if err != nil {
			return "", err
		}
		switch {
		case i.Protected:
			return "", refuse("OperationNotPermitted", "The instance '%s' may not be stopped. Modify its 'disableApiStop' instance attribute and try again.", id)
		case i.state == "terminated" || i.state == "shutting-down":
			return "", refuse("IncorrectInstanceState", "This instance '%s' is not in a state from which it can be stopped.", id)
		case i.state == "stopped" || i.state == "stopping":
			continue
		}
		if s.Stopped != nil && !i.Endless {
			s.Stopped(id)
		}
		i.before, i.unseen, i.state, i.ends = i.state, s.Unseen, "stopping", s.now().Add(s.Takes)
	}
	return "<instancesSet/>", nil
}
