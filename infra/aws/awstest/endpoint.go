package awstest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
)

// Endpoints are the custom endpoints of the clusters of Aurora in a region.
type Endpoints struct {
	region *Server
	all    map[string]*endpoint
}

// endpoint is a custom endpoint of a cluster of Aurora.
type endpoint struct {
	id, cluster      string
	static, excluded []string
	reached          map[string]bool // the instances that it has ever led to
}

// Add puts a custom endpoint of a cluster. Without members, every instance is one.
func (s *Endpoints) Add(cluster, id string, members ...string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.all[id] = &endpoint{id: id, cluster: cluster, static: members, reached: map[string]bool{}}
}

// Reached tells whether an endpoint has ever led to an instance, for however short a time.
func (s *Endpoints) Reached(endpoint, instance string) bool {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.watch()
	return s.all[endpoint].reached[instance]
}

// Members are the instances that an endpoint leads to now.
func (s *Endpoints) Members(endpoint string) []string {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	return s.members(s.all[endpoint])
}

func (s *Endpoints) members(e *endpoint) (all []string) {
	c := s.region.Clusters.all[e.cluster]
	if c == nil {
		return nil
	}
	for _, m := range c.members {
		i := s.region.Instances.all[m]
		if i == nil || i.status != "available" || len(e.static) > 0 && !slices.Contains(e.static, m) || slices.Contains(e.excluded, m) {
			continue
		}
		all = append(all, m)
	}
	return all
}

// watch notes whom endpoints lead to.
func (s *Endpoints) watch() {
	if len(s.all) == 0 {
		return
	}
	for _, i := range s.region.Instances.all {
		s.region.Instances.advance(i, false)
	}
	for _, e := range s.all {
		for _, m := range s.members(e) {
			e.reached[m] = true
		}
	}
}

func (s *Endpoints) describe(q url.Values) (string, error) {
	if _, there := s.region.Clusters.all[q.Get("DBClusterIdentifier")]; !there {
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	}
	var all string
	for _, id := range slices.Sorted(maps.Keys(s.all)) {
		if e := s.all[id]; e.cluster == q.Get("DBClusterIdentifier") {
			all += "<DBClusterEndpointList>" + e.inner() + "</DBClusterEndpointList>"
		}
	}
	return "<DBClusterEndpoints>" + all + "</DBClusterEndpoints>", nil
}

func (e *endpoint) inner() string {
	list := func(name string, members []string) string {
		var all string
		for _, m := range members {
			all += el("member", m)
		}
		return "<" + name + ">" + all + "</" + name + ">"
	}
	return el("DBClusterEndpointIdentifier", e.id) + el("DBClusterIdentifier", e.cluster) + el("EndpointType", "CUSTOM") + el("CustomEndpointType", "ANY") + el("Status", "available") +
		list("StaticMembers", e.static) + list("ExcludedMembers", e.excluded)
}

func (s *Endpoints) modify(q url.Values) (string, error) {
	e, there := s.all[q.Get("DBClusterEndpointIdentifier")]
	if !there {
		return "", refuse("DBClusterEndpointNotFoundFault", "DBClusterEndpoint not found: %s", q.Get("DBClusterEndpointIdentifier"))
	}
	for name, list := range map[string]*[]string{"StaticMembers": &e.static, "ExcludedMembers": &e.excluded} {
		members, given := membersIn(q, name)
		if !given {
			continue
		}
		for _, m := range members {
			if i := s.region.Instances.all[m]; i == nil || i.Cluster != e.cluster {
				return "", refuse("DBInstanceNotFound", "DBInstance %s not found.", m)
			}
		}
		*list = members
	}
	return e.inner(), nil
}

// membersIn is a list of a request; an empty one is given by its name alone.
func membersIn(q url.Values, name string) (all []string, given bool) {
	for i := 1; ; i++ {
		at := name + ".member." + strconv.Itoa(i)
		if !q.Has(at) {
			return all, q.Has(name) || len(all) > 0
		}
		all = append(all, q.Get(at))
	}
}
