package awstest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Instances are the DB instances in a region.
type Instances struct {
	region    *Server
	all       map[string]*Instance
	snapshots []string // that were taken of instances before they were deleted
	backups   []string // instances that were deleted and whose automated backups are kept
}

// Instance is a DB instance of the stand-in.
type Instance struct {
	ID, Class, Engine, Version string
	Type                       string // of its volume
	GiB, IOPS, Throughput      int
	Address                    string // host:port where its server really is
	Group                      string // of its parameters
	Source                     string // of a replica
	Cluster                    string
	Tier                       int // of promotion, of a member of Aurora
	Tags                       map[string]string
	Pending                    map[string]string // values that somebody asked for, for the next maintenance window

	status    string
	rebootDue bool // a static parameter waits for it
	grew      time.Time
	change    *change
}

// change is something that was accepted and is not done.
type change struct {
	status string // while it is under way
	unseen int    // looks that still show what was
	ends   time.Time
	apply  func()
	then   string // the status afterwards
}

// Add puts an instance that is available.
func (s *Instances) Add(i Instance) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	i.status = "available"
	if i.Group == "" {
		i.Group = "default." + i.Engine
	}
	s.all[i.ID] = &i
}

// Status sets the state of an instance: storage-full, say.
func (s *Instances) Status(id, status string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.all[id].status = status
}

// Shown is an instance as it is now, and whether there is one.
func (s *Instances) Shown(id string) (Instance, bool) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	i, there := s.all[id]
	if !there {
		return Instance{}, false
	}
	s.advance(i, false)
	return *i, true
}

// Kept are the last snapshots that were taken, and the deleted instances whose automated backups are there still.
func (s *Instances) Kept() (snapshots, backups []string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	return slices.Clone(s.snapshots), slices.Clone(s.backups)
}

// begin accepts a change of an instance.
func (s *Instances) begin(i *Instance, status, then string, apply func()) {
	i.change = &change{status: status, unseen: s.region.Unseen, ends: s.region.now().Add(s.region.Takes), apply: apply, then: then}
}

// advance lets time do what it does to an instance.
func (s *Instances) advance(i *Instance, look bool) {
	c := i.change
	if c == nil {
		return
	}
	if c.unseen > 0 && c.status != "creating" {
		if look {
			c.unseen--
		}
		return
	}
	i.status = c.status
	if s.region.now().Before(c.ends) {
		return
	}
	i.change, i.status = nil, c.then
	c.apply()
	if i.status == "deleted" {
		delete(s.all, i.ID)
	}
}

func (s *Instances) get(id string) (*Instance, error) {
	i, there := s.all[id]
	if !there {
		return nil, refuse("DBInstanceNotFound", "DBInstance %s not found.", id)
	}
	return i, nil
}

// usable is an instance to which something may be done now.
func (s *Instances) usable(id string) (*Instance, error) {
	i, err := s.get(id)
	if err != nil {
		return nil, err
	}
	s.advance(i, false)
	if i.change != nil || i.status != "available" && i.status != "storage-optimization" {
		return nil, refuse("InvalidDBInstanceState", "Instance %s is not in available state.", id)
	}
	return i, nil
}

func (s *Instances) describe(q url.Values) (string, error) {
	var all string
	for _, i := range s.all { // those that are renamed are asked for by another name
		if i.change != nil && i.change.status == "renaming" {
			s.advance(i, false)
		}
	}
	names := []string{q.Get("DBInstanceIdentifier")}
	if names[0] == "" {
		names = nil
		of := ""
		if q.Get("Filters.Filter.1.Name") == "db-cluster-id" {
			of = q.Get("Filters.Filter.1.Values.Value.1")
		}
		for id, i := range s.all {
			if of == "" || i.Cluster == of {
				names = append(names, id)
			}
		}
		slices.Sort(names)
	}
	for _, id := range names {
		i, err := s.get(id)
		if err != nil {
			return "", err
		}
		s.advance(i, true)
		if _, there := s.all[id]; there {
			all += s.xml(i)
		} else if q.Has("DBInstanceIdentifier") {
			return "", refuse("DBInstanceNotFound", "DBInstance %s not found.", id)
		}
	}
	return "<DBInstances>" + all + "</DBInstances>", nil
}

// shown is the answer to a change of an instance.
func (s *Instances) shown(q url.Values) (string, error) {
	i, err := s.get(q.Get("DBInstanceIdentifier"))
	if err != nil {
		return "", err
	}
	return s.xml(i), nil
}

func (s *Instances) xml(i *Instance) string {
	host, port, _ := strings.Cut(i.Address, ":")
	number, _ := strconv.Atoi(port)
	apply := "in-sync"
	if i.rebootDue {
		apply = "pending-reboot"
	}
	var pending, replicas string
	for name, value := range i.Pending {
		pending += el(name, value)
	}
	for _, other := range s.all {
		if other.Source == i.ID {
			replicas += el("ReadReplicaDBInstanceIdentifier", other.ID)
		}
	}
	endpoint := ""
	if i.status != "creating" {
		endpoint = "<Endpoint>" + el("Address", host) + elNumber("Port", number) + "</Endpoint>"
	}
	return "<DBInstance>" + el("DBInstanceIdentifier", i.ID) + el("DBInstanceArn", "arn:aws:rds:test:1:db:"+i.ID) + el("DbiResourceId", resourceOf(i.ID)) +
		el("DBInstanceClass", i.Class) + el("Engine", i.Engine) + el("EngineVersion", i.Version) + el("DBInstanceStatus", i.status) +
		el("StorageType", i.Type) + elNumber("AllocatedStorage", i.GiB) + elNumber("Iops", i.IOPS) + elNumber("StorageThroughput", i.Throughput) +
		el("DBClusterIdentifier", i.Cluster) + elNumber("PromotionTier", i.Tier) + el("ReadReplicaSourceDBInstanceIdentifier", i.Source) + endpoint +
		"<DBParameterGroups><DBParameterGroup>" + el("DBParameterGroupName", i.Group) + el("ParameterApplyStatus", apply) + "</DBParameterGroup></DBParameterGroups>" +
		"<PendingModifiedValues>" + pending + "</PendingModifiedValues><ReadReplicaDBInstanceIdentifiers>" + replicas + "</ReadReplicaDBInstanceIdentifiers>" +
		tagsXML(i.Tags) + "</DBInstance>"
}
