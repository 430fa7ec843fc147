package awstest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ParameterGroups are the groups of parameters in a region.
type ParameterGroups struct {
	region *Server
	all    map[string]map[string]*parameter
}

type parameter struct {
	value, due string
	static     bool
	allowed    string
}

// Add puts a parameter into a group of one's own.
func (s *ParameterGroups) Add(group, name, value string, static bool) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	if s.all[group] == nil {
		s.all[group] = map[string]*parameter{}
	}
	s.all[group][name] = &parameter{value: value, static: static}
}

// Allow has a parameter of a group take these values, in RDS's own form: 1-100000.
func (s *ParameterGroups) Allow(group, name, values string) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	s.all[group][name].allowed = values
}

func (s *ParameterGroups) describe(q url.Values) (string, error) {
	group, there := s.all[q.Get("DBParameterGroupName")]
	if !there {
		return "", refuse("DBParameterGroupNotFound", "DBParameterGroup not found: %s", q.Get("DBParameterGroupName"))
	}
	var names []string
	for name := range group {
		names = append(names, name)
	}
	slices.Sort(names)
	var all string
	for _, name := range names {
		p := group[name]
		kind, value := "dynamic", p.value
		if p.static {
			kind = "static"
		}
		if p.due != "" {
			value = p.due
		}
		all += "<Parameter>" + el("ParameterName", name) + el("ParameterValue", value) + el("ApplyType", kind) + el("IsModifiable", "true")
		if p.allowed != "" {
			all += el("AllowedValues", p.allowed)
		}
		all += "</Parameter>"
	}
	return "<Parameters>" + all + "</Parameters>", nil
}

func (s *ParameterGroups) modify(q url.Values) (string, error) {
	name := q.Get("DBParameterGroupName")
	if strings.HasPrefix(name, "default.") {
		return "", refuse("InvalidParameterValue", "Default group cannot be modified: %s", name)
	}
	group, there := s.all[name]
	if !there {
		return "", refuse("DBParameterGroupNotFound", "DBParameterGroup not found: %s", name)
	}
	for i := 1; ; i++ {
		at := "Parameters.Parameter." + strconv.Itoa(i)
		if !q.Has(at + ".ParameterName") {
			break
		}
		p, there := group[q.Get(at+".ParameterName")]
		switch {
		case !there:
			return "", refuse("InvalidParameterValue", "Could not find parameter with name: %s", q.Get(at+".ParameterName"))
		case p.static && q.Get(at+".ApplyMethod") == "immediate":
			return "", refuse("InvalidParameterCombination", "cannot use immediate apply method for static parameter")
		}
		p.due = q.Get(at + ".ParameterValue")
		if !p.static {
			s.inForceOne(name, q.Get(at+".ParameterName"), p)
			continue
		}
		for _, i := range s.region.Instances.all {
			if i.Group == name {
				i.rebootDue = true
			}
		}
	}
	return el("DBParameterGroupName", name), nil
}

// inForce puts what waited for a reboot into force.
func (s *ParameterGroups) inForce(group string) {
	for name, p := range s.all[group] {
		s.inForceOne(group, name, p)
	}
}

func (s *ParameterGroups) inForceOne(group, name string, p *parameter) {
	if p.due == "" {
		return
	}
	p.value, p.due = p.due, ""
	if s.region.Parameter != nil {
		s.region.Parameter(group, name, p.value)
	}
}
