// Package kubetest is a stand-in for Kubernetes in tests: objects in memory with what guards them in the real one (resourceVersion,
// generation, strict field validation, dry runs, a status of its own), and pods that are folders and processes of this machine. It is
// written from Kubernetes' documentation and is no Kubernetes: it has no kubelet, no admission and no operators; what an operator
// would do is a function of the test.
package kubetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/infra/kube"
)

// Cluster is the stand-in. The zero value has nothing in it; New makes one.
type Cluster struct {
	mu      sync.Mutex
	kinds   map[string]Kind // by group/version/plural
	objects map[string]kube.Object
	version int
	uids    int

	// Operator is called with the cluster whenever an object of a kind with fields or a schema was asked for, before the answer: it does the next
	// thing that an operator would do. It may be nil, as an operator that is down.
	Operator func(c *Cluster)
	acting   bool

	writes   []string // what was written: method, path, query
	failures []Failure
	lines    lines // of exec
}

// Kind is a kind of objects, and which fields its specification may have: those of its schema, if it is a Published one, or else paths with
// dots, * for any name, [] for the items of a list, ** for all below. No field: nothing is refused.
type Kind struct {
	kube.Kind
	Fields []string
	schema *schema
	// Rule refuses a specification; "" is well.
	Rule func(o kube.Object) string
}

// Failure is what happens to the next write, once.
type Failure struct {
	Status int    // the answer instead of the write, with Reason
	Reason string // Conflict, Forbidden, …
	// Lost has the write made, and its answer lost.
	Lost bool
	// Before is done before the write: by others.
	Before func(c *Cluster)
}

// New is a stand-in that knows pods and these kinds.
func New(kinds ...Kind) *Cluster {
	c := &Cluster{kinds: map[string]Kind{}, objects: map[string]kube.Object{}}
	for _, k := range append(kinds, Kind{Kind: kube.Pods("")}, Kind{Kind: kube.Services("")}, Kind{Kind: kube.Claims("")}) {
		c.kinds[kindKey(k.Group, k.Version, k.Plural)] = k
	}
	return c
}

func kindKey(group, version, plural string) string { return group + "/" + version + "/" + plural }

func objectKey(k kube.Kind, namespace, name string) string {
	return kindKey(k.Group, k.Version, k.Plural) + "/" + namespace + "/" + name
}

// Put makes an object, or another in its place with a uid of its own, as kubectl delete and create would.
func (c *Cluster) Put(k kube.Kind, name string, fields kube.Object) {
	c.locked(func() {
		c.uids++
		o := fields.With(kube.At("metadata.name"), name).With(kube.At("metadata.namespace"), k.Namespace).
			With(kube.At("metadata.uid"), fmt.Sprintf("uid-%d", c.uids)).With(kube.At("metadata.generation"), json.Number("1"))
		c.store(k, name, o)
	})
}

// Set changes an object as an operator or another person would, its status too.
func (c *Cluster) Set(k kube.Kind, name, path string, value any) {
	c.locked(func() {
		o := c.objects[objectKey(k, k.Namespace, name)]
		before := o
		o = normal(o.With(kube.At(path), value))
		c.store(k, name, generated(before, o))
	})
}

// Delete removes an object.
func (c *Cluster) Delete(k kube.Kind, name string) {
	c.locked(func() { delete(c.objects, objectKey(k, k.Namespace, name)) })
}

// Object is an object as it is; nil if there is none.
func (c *Cluster) Object(k kube.Kind, name string) (o kube.Object) {
	c.locked(func() { o = c.objects[objectKey(k, k.Namespace, name)] })
	return o
}

// All are the objects of a kind in its namespace, by name.
func (c *Cluster) All(k kube.Kind) (all []kube.Object) {
	c.locked(func() { all = c.all(k) })
	return all
}

// Writes are those that were made or tried: method, path and query.
func (c *Cluster) Writes() (all []string) {
	c.locked(func() { all = slices.Clone(c.writes) })
	return all
}

// Fail has the next writes fail so.
func (c *Cluster) Fail(all ...Failure) { c.locked(func() { c.failures = append(c.failures, all...) }) }

// locked does something with the objects. An operator that acts holds them already.
func (c *Cluster) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

func (c *Cluster) all(k kube.Kind) (all []kube.Object) {
	prefix := objectKey(k, k.Namespace, "")
	for _, key := range slices.Sorted(maps.Keys(c.objects)) {
		if strings.HasPrefix(key, prefix) {
			all = append(all, c.objects[key])
		}
	}
	return all
}

func (c *Cluster) store(k kube.Kind, name string, o kube.Object) {
	c.version++
	o = o.With(kube.At("metadata.resourceVersion"), strconv.Itoa(c.version))
	c.objects[objectKey(k, k.Namespace, name)] = normal(o)
}

// generated counts a change of the specification.
func generated(before, after kube.Object) kube.Object {
	if equal(before["spec"], after["spec"]) {
		return after
	}
	return after.With(kube.At("metadata.generation"), json.Number(strconv.FormatInt(before.Generation()+1, 10)))
}

// normal is an object as it comes out of JSON.
func normal(o kube.Object) kube.Object {
	data, err := json.Marshal(o)
	if err == nil {
		o, err = parse(data)
	}
	if err != nil {
		panic("kubetest: " + err.Error()) // a test gave something that is no JSON
	}
	return o
}

func parse(data []byte) (o kube.Object, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&o)
	return o, err
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// judge says which fields of a specification its kind does not have, and what else is wrong with it.
func (k Kind) judge(o kube.Object) (unknown, wrong []string) {
	spec, _ := o["spec"].(map[string]any)
	switch {
	case k.schema != nil:
		unknown, wrong = k.schema.Properties["spec"].judge(spec, "spec")
	case len(k.Fields) > 0:
		k.walk(spec, nil, &unknown)
	}
	slices.Sort(unknown)
	return unknown, wrong
}

func (k Kind) walk(v any, at []string, all *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			k.walk(inner, append(slices.Clone(at), name), all)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for _, inner := range v {
			k.walk(inner, append(slices.Clone(at), "[]"), all)
		}
		return
	}
	if len(at) > 0 && !slices.ContainsFunc(k.Fields, func(f string) bool { return matches(strings.Split(f, "."), at) }) {
		*all = append(*all, "spec."+strings.Join(at, "."))
	}
}

// matches tells whether a field is one that a pattern names, or stands below it.
func matches(pattern, at []string) bool {
	for i, p := range pattern {
		if p == "**" {
			return true
		}
		if i >= len(at) || p != "*" && p != at[i] {
			return false
		}
	}
	return len(pattern) == len(at)
}
