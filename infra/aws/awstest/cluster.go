package awstest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Clusters are those of Aurora in a region.
type Clusters struct {
	region *Server
	all    map[string]*cluster
}

// cluster is one of Aurora.
type cluster struct {
	id, engine, version, address string
	writer                       string
	members                      []string
	tags                         map[string]string
	group                        string // of those that share pages
	next                         string // the writer to be
	at                           time.Time
	gone                         time.Time // when it is, once it is being deleted
	protected                    bool
}

// purge forgets the clusters whose deletion is over.
func (s *Clusters) purge() {
	maps.DeleteFunc(s.all, func(_ string, c *cluster) bool { return !c.gone.IsZero() && s.region.now().After(c.gone) })
}

// Add puts a cluster of Aurora with instances that are there; the first is the writer.
func (s *Clusters) Add(id, engine string, members ...string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	c := &cluster{id: id, engine: engine, version: "8.0.mysql_aurora.3.08.0", members: members, writer: members[0]}
	for _, m := range members {
		s.region.Instances.all[m].Cluster = id
	}
	c.address = s.region.Instances.all[members[0]].Address
	s.all[id] = c
}

func (c *cluster) leave(id string) {
	c.members = slices.DeleteFunc(c.members, func(m string) bool { return m == id })
	if c.writer == id {
		c.writer = ""
	}
}

// failsOver ends a failover that was begun.
func (s *Clusters) failsOver(c *cluster) {
	if c.next == "" || s.region.now().Before(c.at) {
		return
	}
	former := c.writer
	c.writer, c.next = c.next, ""
	if s.region.Promoted != nil && c.writer != former {
		s.region.Promoted(c.writer, former)
	}
}

func (s *Clusters) describe(q url.Values) (string, error) {
	s.purge()
	if !q.Has("DBClusterIdentifier") {
		var all string
		for _, id := range slices.Sorted(maps.Keys(s.all)) {
			all += s.xml(s.all[id])
		}
		return "<DBClusters>" + all + "</DBClusters>", nil
	}
	c, there := s.all[q.Get("DBClusterIdentifier")]
	if !there {
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	}
	return "<DBClusters>" + s.xml(c) + "</DBClusters>", nil
}

func (s *Clusters) xml(c *cluster) string {
	s.failsOver(c)
	var members string
	for _, m := range c.members {
		writer := "false"
		if m == c.writer {
			writer = "true"
		}
		members += "<DBClusterMember>" + el("DBInstanceIdentifier", m) + el("IsClusterWriter", writer) + "</DBClusterMember>"
	}
	host, port, _ := strings.Cut(c.address, ":")
	protected := strconv.FormatBool(c.protected)
	status, storage := "available", "" // the API leaves the storage out of a cluster of the Standard configuration
	if !c.gone.IsZero() {
		status = "deleting"
	}
	if kind := s.region.StorageOf[c.id]; kind != "" {
		storage = el("StorageType", kind)
	}
	return "<DBCluster>" + storage + el("DBClusterIdentifier", c.id) + el("Engine", c.engine) + el("EngineVersion", c.version) + el("Status", status) +
		el("Endpoint", host) + el("Port", port) + el("CloneGroupId", c.group) + el("DeletionProtection", protected) + "<DBClusterMembers>" + members + "</DBClusterMembers>" + tagsXML(c.tags) + "</DBCluster>"
}

// createMember answers CreateDBInstance, which the stand-in knows for members of Aurora alone.
func (s *Clusters) createMember(q url.Values) (string, error) {
	c, there := s.all[q.Get("DBClusterIdentifier")]
	if !there {
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	}
	id := q.Get("DBInstanceIdentifier")
	if _, there := s.region.Instances.all[id]; there {
		return "", refuse("DBInstanceAlreadyExists", "DB instance already exists")
	}
	i := &Instance{ID: id, Class: q.Get("DBInstanceClass"), Engine: c.engine, Version: c.version, Address: c.address, Cluster: c.id, Tags: tagsIn(q), Group: "default." + c.engine, status: "creating", Tier: 1}
	if q.Has("PromotionTier") {
		i.Tier = numberIn(q, "PromotionTier")
	}
	if s.region.Joined != nil {
		i.Address = s.region.Joined(c.id, id)
	}
	s.region.Instances.all[id] = i
	s.region.Instances.begin(i, "creating", "available", func() {
		c.members = append(c.members, id)
		if c.writer == "" {
			c.writer = id
		}
	})
	return s.region.Instances.shown(q)
}

func (s *Clusters) failover(q url.Values) (string, error) {
	c, there := s.all[q.Get("DBClusterIdentifier")]
	target := q.Get("TargetDBInstanceIdentifier")
	switch {
	case !there:
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	case !slices.Contains(c.members, target):
		return "", refuse("InvalidDBInstanceState", "%s is not a member of the cluster", target)
	}
	c.next, c.at = target, s.region.now().Add(s.region.Takes)
	return s.xml(c), nil
}

func (s *Clusters) clone(q url.Values) (string, error) {
	source, there := s.all[q.Get("SourceDBClusterIdentifier")]
	if !there {
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("SourceDBClusterIdentifier"))
	}
	id := q.Get("DBClusterIdentifier")
	if _, there := s.all[id]; there {
		return "", refuse("DBClusterAlreadyExistsFault", "DB Cluster already exists")
	}
	if q.Get("RestoreType") != "copy-on-write" {
		return "", refuse("InvalidParameterValue", "the stand-in makes clones alone")
	}
	if source.group == "" {
		source.group = "group-of-" + source.id
	}
	c := &cluster{id: id, engine: source.engine, version: source.version, address: source.address, tags: tagsIn(q), group: source.group}
	if s.region.Cloned != nil {
		c.address = s.region.Cloned(source.id, id)
	}
	s.all[id] = c
	return s.xml(c), nil
}

func (s *Clusters) delete(q url.Values) (string, error) {
	c, there := s.all[q.Get("DBClusterIdentifier")]
	switch {
	case !there:
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	case c.protected:
		return "", refuse("InvalidParameterCombination", "Cannot delete protected Cluster, please disable deletion protection and try again.")
	case !c.gone.IsZero():
		return "", refuse("InvalidDBClusterStateFault", "DBCluster %s is already being deleted.", c.id)
	case len(c.members) > 0:
		return "", refuse("InvalidDBClusterStateFault", "Cluster cannot be deleted, it still contains DB instances in non-deleting state.")
	}
	c.gone = s.region.now().Add(s.region.Takes)
	return s.xml(c), nil
}

// Tag sets a tag of a cluster, as a person may.
func (s *Clusters) Tag(id, key, value string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	if s.all[id].tags == nil {
		s.all[id].tags = map[string]string{}
	}
	s.all[id].tags[key] = value
}

// Share has a cluster share its pages with another, as a clone of it does.
func (s *Clusters) Share(id, with string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.all[id].group, s.all[with].group = "group-of-"+with, "group-of-"+with
}

// Protect gives a cluster deletion protection.
func (s *Clusters) Protect(id string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.all[id].protected = true
}

// Has tells whether there is a cluster of that name.
func (s *Clusters) Has(id string) bool {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.purge()
	_, there := s.all[id]
	return there
}
