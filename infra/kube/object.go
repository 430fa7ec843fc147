package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Object is an object of the API, as JSON has it. Numbers are json.Number: an object is written back to its last digit.
type Object map[string]any

// Path leads to a field: spec, replication, primary, podIndex. A number names an item of a list, from 0.
type Path []string

// At is a path as documentation writes it, with dots. A name that has dots itself is given to Path.
func At(dotted string) Path { return strings.Split(dotted, ".") }

func (p Path) String() string { return strings.Join(p, ".") }

func parseObject(data []byte) (o Object, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		return nil, fmt.Errorf("read the answer of Kubernetes: %w", err)
	}
	return o, nil
}

// Get is the field at a path; nil if there is none.
func (o Object) Get(p Path) any {
	var at any = map[string]any(o)
	for _, name := range p {
		switch in := at.(type) {
		case map[string]any:
			at = in[name]
		case []any:
			i, ok := item(in, name)
			if !ok {
				return nil
			}
			at = in[i]
		default:
			return nil
		}
	}
	return at
}

// item is the place of an item that a path names by its number; false if the list has none.
func item(list []any, name string) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && i < len(list)
}

// Text is the field at a path as text; "" if there is none.
func (o Object) Text(p Path) string {
	if v := o.Get(p); v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// Int is the number at a path; false if there is none.
func (o Object) Int(p Path) (int64, bool) {
	n, err := strconv.ParseInt(o.Text(p), 10, 64)
	return n, err == nil
}

// Is tells whether the field at a path is true.
func (o Object) Is(p Path) bool { v, _ := o.Get(p).(bool); return v }

// List are the objects in the list at a path.
func (o Object) List(p Path) (all []Object) {
	items, _ := o.Get(p).([]any)
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			all = append(all, fields)
		}
	}
	return all
}

// Name, UID and Version are who it is, and which of its writes this was.
func (o Object) Name() string    { return o.Text(Path{"metadata", "name"}) }
func (o Object) UID() string     { return o.Text(Path{"metadata", "uid"}) }
func (o Object) Version() string { return o.Text(Path{"metadata", "resourceVersion"}) }

// Generation counts the changes of its specification.
func (o Object) Generation() int64 { n, _ := o.Int(At("metadata.generation")); return n }

// Deleted tells whether it is being deleted.
func (o Object) Deleted() bool { return o.Text(At("metadata.deletionTimestamp")) != "" }

// Condition is the status of one of its conditions, True, False or Unknown, with the reason; "" if it has none.
func (o Object) Condition(kind string) (status, reason string) {
	for _, c := range o.List(At("status.conditions")) {
		if c.Text(Path{"type"}) == kind {
			return c.Text(Path{"status"}), c.Text(Path{"reason"})
		}
	}
	return "", ""
}

// With is a copy with another value at a path; nil takes the field away. A path into a list changes an item that is there; one that the
// list does not have changes nothing.
func (o Object) With(p Path, value any) Object {
	out := maps.Clone(o)
	if out == nil {
		out = Object{}
	}
	switch {
	case len(p) > 1:
		out[p[0]] = with(out[p[0]], p[1:], value)
	case value == nil:
		delete(out, p[0])
	default:
		out[p[0]] = value
	}
	return out
}

// with is a copy of a field's value with another value at a path in it.
func with(old any, p Path, value any) any {
	list, is := old.([]any)
	if !is {
		inner, _ := old.(map[string]any)
		return map[string]any(Object(inner).With(p, value))
	}
	i, there := item(list, p[0])
	if !there {
		return old
	}
	list = slices.Clone(list)
	if len(p) == 1 {
		list[i] = value
	} else {
		list[i] = with(list[i], p[1:], value)
	}
	return list
}

// gitOps are the field managers of programs that would put a field back to what their repository says.
var gitOps = []string{"argocd-controller", "argocd-application-controller", "kustomize-controller", "helm-controller", "helm", "fleetagent", "gitjob"}

// Keeper is the program that keeps a field as a repository says, and would take a change back; "" if none is known.
func (o Object) Keeper(p Path) string {
	for _, m := range o.List(At("metadata.managedFields")) {
		manager := m.Text(Path{"manager"})
		if slices.Contains(gitOps, manager) && keeps(m.Get(Path{"fieldsV1"}), p) {
			return manager
		}
	}
	return ""
}

// keeps tells whether a set of fields has one. A field in the set with nothing below it is there with all that it has: a list, for
// example, that is written as a whole.
func keeps(set any, p Path) bool {
	fields, _ := set.(map[string]any)
	for _, name := range p {
		below, there := fields["f:"+name].(map[string]any)
		if !there {
			return false
		}
		if fields = below; len(fields) == 0 {
			return true
		}
	}
	return true
}
