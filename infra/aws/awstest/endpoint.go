package awstest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
)

// endpoint is a custom endpoint of a cluster of Aurora.
type endpoint struct {
	id, cluster      string
	static, excluded []string
	reached          map[string]bool // the instances that it has ever led to
}

// AddEndpoint puts a custom endpoint of a cluster. Without members, every instance is one.
func (s *Server) AddEndpoint(cluster, id string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints[id] = &endpoint{id: id, cluster: cluster, static: members, reached: map[string]bool{}}
}

// Reached tells whether an endpoint has ever led to an instance, for however short a time.
func (s *Server) Reached(endpoint, instance string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchEndpoints()
	return s.endpoints[endpoint].reached[instance]
}

// Members are the instances that an endpoint leads to now.
func (s *Server) Members(endpoint string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.members(s.endpoints[endpoint])
}

func (s *Server) members(e *endpoint) (all []string) {
	c := s.clusters[e.cluster]
	if c == nil {
		return nil
	}
	for _, m := range c.members {
		i := s.instances[m]
		if i == nil || i.status != "available" || len(e.static) > 0 && !slices.Contains(e.static, m) || slices.Contains(e.excluded, m) {
			continue
		}
		all = append(all, m)
	}
	return all
}

// watchEndpoints notes whom endpoints lead to.
func (s *Server) watchEndpoints() {
	if len(s.endpoints) == 0 {
		return
	}
	for _, i := range s.instances {
		s.advance(i, false)
	}
	for _, e := range s.endpoints {
		for _, m := range s.members(e) {
			e.reached[m] = true
		}
	}
}

func (s *Server) describeEndpoints(q url.Values) (string, error) {
	if _, there := s.clusters[q.Get("DBClusterIdentifier")]; !there {
		return "", refuse("DBClusterNotFoundFault", "DBCluster %s not found.", q.Get("DBClusterIdentifier"))
	}
	var all string
	for _, id := range slices.Sorted(maps.Keys(s.endpoints)) {
		if e := s.endpoints[id]; e.cluster == q.Get("DBClusterIdentifier") {
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

func (s *Server) modifyEndpoint(q url.Values) (string, error) {
	e, there := s.endpoints[q.Get("DBClusterEndpointIdentifier")]
	if !there {
		return "", refuse("DBClusterEndpointNotFoundFault", "DBClusterEndpoint not found: %s", q.Get("DBClusterEndpointIdentifier"))
	}
	for name, list := range map[string]*[]string{"StaticMembers": &e.static, "ExcludedMembers": &e.excluded} {
		members, given := membersIn(q, name)
		if !given {
			continue
		}
		for _, m := range members {
			if i := s.instances[m]; i == nil || i.Cluster != e.cluster {
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
