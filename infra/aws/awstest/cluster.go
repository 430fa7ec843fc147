package awstest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
func (s *Server) purge() {
	maps.DeleteFunc(s.clusters, func(_ string, c *cluster) bool { return !c.gone.IsZero() && s.now().After(c.gone) })
}

// AddCluster puts a cluster of Aurora with instances that are there; the first is the writer.
func (s *Server) AddCluster(id, engine string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &cluster{id: id, engine: engine, version: "8.0.mysql_aurora.3.08.0", members: members, writer: members[0]}
	for _, m := range members {
		s.instances[m].Cluster = id
	}
	c.address = s.instances[members[0]].Address
	s.clusters[id] = c
}

func (c *cluster) leave(id string) {
	c.members = slices.DeleteFunc(c.members, func(m string) bool { return m == id })
	if c.writer == id {
		c.writer = ""
	}
}

// failsOver ends a failover that was begun.
func (s *Server) failsOver(c *cluster) {
	if c.next == "" || s.now().Before(c.at) {
		return
	}
	former := c.writer
	c.writer, c.next = c.next, ""
	if s.Promoted != nil && c.writer != former {
		s.Promoted(c.writer, former)
	}
}

func (s *Server) describeClusters(q url.Values) (string, error) {
	s.purge()
	if !q.Has("DBClusterIdentifier") {
		var all string
		for _, id := range slices.Sorted(maps.Keys(s.clusters)) {
			all += s.clusterXML(s.clusters[id])
		}
		return "<DBClusters>" + all + "</DBClusters>", nil
	}
	c, there := s.clusters[q.Get("DBClusterIdentifier")]
	if !there {
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	}
	return "<DBClusters>" + s.clusterXML(c) + "</DBClusters>", nil
}

func (s *Server) clusterXML(c *cluster) string {
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
	if kind := s.StorageOf[c.id]; kind != "" {
		storage = el("StorageType", kind)
	}
	return "<DBCluster>" + storage + el("DBClusterIdentifier", c.id) + el("Engine", c.engine) + el("EngineVersion", c.version) + el("Status", status) +
		el("Endpoint", host) + el("Port", port) + el("CloneGroupId", c.group) + el("DeletionProtection", protected) + "<DBClusterMembers>" + members + "</DBClusterMembers>" + tagsXML(c.tags) + "</DBCluster>"
}

func (s *Server) failover(q url.Values) (string, error) {
	c, there := s.clusters[q.Get("DBClusterIdentifier")]
	target := q.Get("TargetDBInstanceIdentifier")
	switch {
	case !there:
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	case !slices.Contains(c.members, target):
		return "", refuse("InvalidDBInstanceState", "%s is not a member of the cluster", target)
	}
	c.next, c.at = target, s.now().Add(s.Takes)
	return s.clusterXML(c), nil
}

func (s *Server) clone(q url.Values) (string, error) {
	source, there := s.clusters[q.Get("SourceDBClusterIdentifier")]
	if !there {
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("SourceDBClusterIdentifier"))
	}
	id := q.Get("DBClusterIdentifier")
	if _, there := s.clusters[id]; there {
		return "", refuse("DBClusterAlreadyExistsFault", "DB Cluster already exists")
	}
	if q.Get("RestoreType") != "copy-on-write" {
		return "", refuse("InvalidParameterValue", "the stand-in makes clones alone")
	}
	if source.group == "" {
		source.group = "group-of-" + source.id
	}
	c := &cluster{id: id, engine: source.engine, version: source.version, address: source.address, tags: tagsIn(q), group: source.group}
	if s.Cloned != nil {
		c.address = s.Cloned(source.id, id)
	}
	s.clusters[id] = c
	return s.clusterXML(c), nil
}

func (s *Server) deleteCluster(q url.Values) (string, error) {
	c, there := s.clusters[q.Get("DBClusterIdentifier")]
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
	c.gone = s.now().Add(s.Takes)
	return s.clusterXML(c), nil
}

// TagCluster sets a tag of a cluster, as a person may.
func (s *Server) TagCluster(id, key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clusters[id].tags == nil {
		s.clusters[id].tags = map[string]string{}
	}
	s.clusters[id].tags[key] = value
}

// Protect gives a cluster deletion protection.
func (s *Server) Protect(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clusters[id].protected = true
}

// HasCluster tells whether there is a cluster of that name.
func (s *Server) HasCluster(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge()
	_, there := s.clusters[id]
	return there
}
