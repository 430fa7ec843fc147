package awstest

import (
	"net/url"
	"strings"
	"time"
)

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
func (s *Server) FailSwitchover(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = name
}

// DropBlueGreens forgets all deployments, and their copies.
func (s *Server) DropBlueGreens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.blueGreens {
		delete(s.instances, d.target)
	}
	s.blueGreens = nil
}

func arnOf(instance string) string { return "arn:aws:rds:test:1:db:" + instance }

// happens lets time do what it does to a deployment.
func (s *Server) happens(d *blueGreen) {
	if d.then == "" || s.now().Before(d.ends) {
		return
	}
	d.status, d.then = d.then, ""
	if d.apply != nil {
		d.apply()
	}
}

func (s *Server) createBlueGreen(q url.Values) (string, error) {
	id := strings.TrimPrefix(q.Get("Source"), arnOf(""))
	source, err := s.usable(id)
	if err != nil {
		return "", err
	}
	for _, d := range s.blueGreens {
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
	if s.Green != nil {
		copied.Address = s.Green(id)
	}
	d := &blueGreen{id: "bgd-" + q.Get("BlueGreenDeploymentName"), name: q.Get("BlueGreenDeploymentName"), status: "PROVISIONING", source: id, target: copied.ID, tags: tagsIn(q), ends: s.now().Add(s.Takes), then: "AVAILABLE"}
	d.apply = func() { s.instances[copied.ID] = &copied }
	s.blueGreens = append(s.blueGreens, d)
	return d.xml(), nil
}

func (s *Server) describeBlueGreens(q url.Values) (string, error) {
	var all string
	for _, d := range s.blueGreens {
		s.happens(d)
		if want := q.Get("Filters.Filter.1.Values.Value.1"); want == "" || want == d.name {
			all += "<member>" + d.inner() + "</member>"
		}
	}
	return "<BlueGreenDeployments>" + all + "</BlueGreenDeployments>", nil
}

func (s *Server) blueGreen(q url.Values) (*blueGreen, error) {
	for _, d := range s.blueGreens {
		if d.id == q.Get("BlueGreenDeploymentIdentifier") {
			s.happens(d)
			return d, nil
		}
	}
	return nil, refuse("BlueGreenDeploymentNotFoundFault", "BlueGreenDeployment %s not found.", q.Get("BlueGreenDeploymentIdentifier"))
}

func (s *Server) switchOver(q url.Values) (string, error) {
	d, err := s.blueGreen(q)
	if err != nil {
		return "", err
	}
	if d.status != "AVAILABLE" && d.status != "SWITCHOVER_FAILED" {
		return "", refuse("InvalidBlueGreenDeploymentStateFault", "The blue/green deployment is in state %s.", d.status)
	}
	d.status, d.ends, d.then = "SWITCHOVER_IN_PROGRESS", s.now().Add(s.Takes), "SWITCHOVER_COMPLETED"
	if s.failing == d.name {
		s.failing, d.then, d.apply = "", "SWITCHOVER_FAILED", nil
		return d.xml(), nil
	}
	d.apply = func() {
		blue, green := s.instances[d.source], s.instances[d.target]
		delete(s.instances, blue.ID)
		delete(s.instances, green.ID)
		blue.ID, green.ID = d.source+"-old1", d.source
		s.instances[blue.ID], s.instances[green.ID] = blue, green
		d.source, d.target = blue.ID, green.ID
		s.happened(green.ID, "Switchover from DB instance "+green.ID+" completed", "availability")
		if s.SwitchedOver != nil {
			s.SwitchedOver(*blue, *green)
		}
	}
	return d.xml(), nil
}

func (s *Server) deleteBlueGreen(q url.Values) (string, error) {
	d, err := s.blueGreen(q)
	if err != nil {
		return "", err
	}
	if q.Get("DeleteTarget") == "true" {
		if d.status == "SWITCHOVER_COMPLETED" {
			return "", refuse("InvalidParameterCombination", "You can't specify DeleteTarget after the switchover.")
		}
		delete(s.instances, d.target)
	}
	for i, one := range s.blueGreens {
		if one == d {
			s.blueGreens = append(s.blueGreens[:i:i], s.blueGreens[i+1:]...)
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

// rename gives an instance another name; its server restarts.
func (s *Server) rename(i *Instance, name string) error {
	if _, there := s.instances[name]; there {
		return refuse("DBInstanceAlreadyExists", "DB instance already exists")
	}
	s.begin(i, "renaming", "available", func() {
		delete(s.instances, i.ID)
		i.ID = name
		s.instances[name] = i
		s.reboot(i)
	})
	i.change.unseen = 0
	return nil
}
