package awstest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

type parameter struct {
	value, due string
	static     bool
}

// AddParameter puts a parameter into a group of one's own.
func (s *Server) AddParameter(group, name, value string, static bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.groups[group] == nil {
		s.groups[group] = map[string]*parameter{}
	}
	s.groups[group][name] = &parameter{value: value, static: static}
}

func (s *Server) describeParameters(q url.Values) (string, error) {
	group, there := s.groups[q.Get("DBParameterGroupName")]
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
		all += "<Parameter>" + el("ParameterName", name) + el("ParameterValue", value) + el("ApplyType", kind) + el("IsModifiable", "true") + "</Parameter>"
	}
	return "<Parameters>" + all + "</Parameters>", nil
}

func (s *Server) modifyGroup(q url.Values) (string, error) {
	name := q.Get("DBParameterGroupName")
	if strings.HasPrefix(name, "default.") {
		return "", refuse("InvalidParameterValue", "Default group cannot be modified: %s", name)
	}
	group, there := s.groups[name]
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
		for _, i := range s.instances {
			if i.Group == name {
				i.rebootDue = true
			}
		}
	}
	return el("DBParameterGroupName", name), nil
}

// inForce puts what waited for a reboot into force.
func (s *Server) inForce(group string) {
	for name, p := range s.groups[group] {
		s.inForceOne(group, name, p)
	}
}

func (s *Server) inForceOne(group, name string, p *parameter) {
	if p.due == "" {
		return
	}
	p.value, p.due = p.due, ""
	if s.Parameter != nil {
		s.Parameter(group, name, p.value)
	}
}
