package awstest

import (
	"net/url"
	"strings"
	"time"
)

// BlueGreens are the blue/green deployments in a region.
type BlueGreens struct {
	region  *Server
	all     []*blueGreen
	failing string // the deployment whose switchover fails
}

// blueGreen is a copy of an instance that may take its place.
type blueGreen struct {
	id, name, status string
	source, target   string // instances, as they are called now
	tags             map[string]string
	ends             time.Time
	then             string
	apply            func()
}

// FailSwitchover makes the next switchover of a deployment fail, after which all is as it was.
func (s *BlueGreens) FailSwitchover(name string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.failing = name
}

// Drop forgets all deployments, and their copies.
func (s *BlueGreens) Drop() {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	for _, d := range s.all {
		delete(s.region.Instances.all, d.target)
	}
	s.all = nil
}

func arnOf(instance string) string { return "arn:aws:rds:test:1:db:" + instance }

// advance lets time do what it does to a deployment.
func (s *BlueGreens) advance(d *blueGreen) {
	if d.then == "" || s.region.now().Before(d.ends) {
		return
	}
	d.status, d.then = d.then, ""
	if d.apply != nil {
		d.apply()
	}
}

func (s *BlueGreens) create(q url.Values) (string, error) {
	id := strings.TrimPrefix(q.Get("Source"), arnOf(""))
	source, err := s.region.Instances.usable(id)
	if err != nil {
		return "", err
	}
	for _, d := range s.all {
		if d.name == q.Get("BlueGreenDeploymentName") {
			return "", refuse("BlueGreenDeploymentAlreadyExistsFault", "A blue/green deployment with the specified name already exists.")
		}
	}
	if source.Source != "" || source.Cluster != "" {
		return "", refuse("SourceDatabaseNotSupportedFault", "The source DB instance isn't supported for a blue/green deployment.")
	}
	copied := *source
	copied.ID, copied.Tags, copied.Pending, copied.change, copied.status = id+"-green-abc123", nil, nil, nil, "available"
	if v := q.Get("TargetEngineVersion"); v != "" {
		copied.Version = v
	}
	if v := q.Get("TargetDBInstanceClass"); v != "" {
		copied.Class = v
	}
	if s.region.Green != nil {
		copied.Address = s.region.Green(id)
	}
	d := &blueGreen{id: "bgd-" + q.Get("BlueGreenDeploymentName"), name: q.Get("BlueGreenDeploymentName"), status: "PROVISIONING", source: id, target: copied.ID, tags: tagsIn(q), ends: s.region.now().Add(s.region.Takes), then: "AVAILABLE"}
	d.apply = func() { s.region.Instances.all[copied.ID] = &copied }
	s.all = append(s.all, d)
	return d.xml(), nil
}

func (s *BlueGreens) describe(q url.Values) (string, error) {
	var all string
	for _, d := range s.all {
		s.advance(d)
		if want := q.Get("Filters.Filter.1.Values.Value.1"); want == "" || want == d.name {
			all += "<member>" + d.inner() + "</member>"
		}
	}
	return "<BlueGreenDeployments>" + all + "</BlueGreenDeployments>", nil
}

func (s *BlueGreens) get(q url.Values) (*blueGreen, error) {
	for _, d := range s.all {
		if d.id == q.Get("BlueGreenDeploymentIdentifier") {
			s.advance(d)
			return d, nil
		}
	}
	return nil, refuse("BlueGreenDeploymentNotFoundFault", "BlueGreenDeployment %s not found.", q.Get("BlueGreenDeploymentIdentifier"))
}

func (s *BlueGreens) switchOver(q url.Values) (string, error) {
	d, err := s.get(q)
	if err != nil {
		return "", err
	}
	if d.status != "AVAILABLE" && d.status != "SWITCHOVER_FAILED" {
		return "", refuse("InvalidBlueGreenDeploymentStateFault", "The blue/green deployment is in state %s.", d.status)
	}
	d.status, d.ends, d.then = "SWITCHOVER_IN_PROGRESS", s.region.now().Add(s.region.Takes), "SWITCHOVER_COMPLETED"
	if s.failing == d.name {
		s.failing, d.then, d.apply = "", "SWITCHOVER_FAILED", nil
		return d.xml(), nil
	}
	d.apply = func() {
		blue, green := s.region.Instances.all[d.source], s.region.Instances.all[d.target]
		delete(s.region.Instances.all, blue.ID)
		delete(s.region.Instances.all, green.ID)
		blue.ID, green.ID = d.source+"-old1", d.source
		s.region.Instances.all[blue.ID], s.region.Instances.all[green.ID] = blue, green
		d.source, d.target = blue.ID, green.ID
		s.region.events.add(green.ID, "Switchover from DB instance "+green.ID+" completed", "availability")
		if s.region.SwitchedOver != nil {
			s.region.SwitchedOver(*blue, *green)
		}
	}
	return d.xml(), nil
}

func (s *BlueGreens) delete(q url.Values) (string, error) {
	d, err := s.get(q)
	if err != nil {
		return "", err
	}
	if q.Get("DeleteTarget") == "true" {
		if d.status == "SWITCHOVER_COMPLETED" {
			return "", refuse("InvalidParameterCombination", "You can't specify DeleteTarget after the switchover.")
		}
		delete(s.region.Instances.all, d.target)
	}
	for i, one := range s.all {
		if one == d {
			s.all = append(s.all[:i:i], s.all[i+1:]...)
			break
		}
	}
	d.status = "DELETING"
	return d.xml(), nil
}

func (d *blueGreen) xml() string {
	return "<BlueGreenDeployment>" + d.inner() + "</BlueGreenDeployment>"
}

func (d *blueGreen) inner() string {
	return el("BlueGreenDeploymentIdentifier", d.id) + el("BlueGreenDeploymentName", d.name) + el("Source", arnOf(d.source)) + el("Target", arnOf(d.target)) + el("Status", d.status) + tagsXML(d.tags)
}
