//go:build linux

package kube_test

import (
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"plimsoll/infra"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
)

var things = kube.Kind{Group: "example.org", Version: "v1", Kind: "Thing", Plural: "things", Namespace: "db"}

// thing is a cluster with one object of a kind with few fields.
func thing() *kubetest.Cluster {
	c := kubetest.New(kubetest.Kind{Kind: things, Fields: []string{"replicas", "big", "racks.[].name", "labels.*", "config.**"}})
	c.Put(things, "one", kube.Object{
		"spec":   map[string]any{"replicas": 3, "big": 9007199254740993, "racks": []any{map[string]any{"name": "r1"}}, "config": map[string]any{"a": map[string]any{"b": 1}}},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "AllWell"}}},
	})
	return c
}

func TestChangesByTheStandIn(t *testing.T) {
	c := thing()
	changes(t, c, kube.NewAPI(c.Machine(here(t)), kube.Access{}))
}

// The real kubectl sends what the stand-in of it is given.
func TestChangesByKubectl(t *testing.T) {
	if testing.Short() {
		t.Skip("starts kubectl a few times")
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is not here")
	}
	c := thing()
	changes(t, c, kube.NewAPI(here(t), kube.Access{Config: c.Config(t), Context: "stand-in"}))
}

func changes(t *testing.T, c *kubetest.Cluster, api kube.API) {
	replicas := kube.At("spec.replicas")
	read := func() kube.Object {
		t.Helper()
		o, err := api.Get(t.Context(), things, "one")
		must(t, err)
		return o
	}
	o := read()
	if status, reason := o.Condition("Ready"); status != "True" || reason != "AllWell" {
		t.Errorf("its condition is %s, %s", status, reason)
	}
	must(t, api.Try(t.Context(), things, o, kube.Edit{Path: replicas, Value: 5}))
	if n, _ := read().Int(replicas); n != 3 {
		t.Errorf("a try has changed it to %d", n)
	}
	if err := api.Try(t.Context(), things, o, kube.Edit{Path: kube.At("spec.replicaz"), Value: 5}); err == nil || !strings.Contains(err.Error(), "replicaz") {
		t.Errorf("an unknown field: %v", err)
	}
	changed, err := api.Change(t.Context(), things, o, kube.Edit{Path: replicas, Value: 5}, kube.Edit{Path: kube.Path{"metadata", "labels", "example.org/a"}, Value: "b"})
	must(t, err)
	if n, _ := changed.Int(replicas); n != 5 || changed.Generation() != 2 || changed.Text(kube.At("spec.big")) != "9007199254740993" {
		t.Errorf("changed to %v", changed)
	}
	var conflict *kube.ConflictError
	if _, err := api.Change(t.Context(), things, o, kube.Edit{Path: replicas, Value: 7}); !errors.As(err, &conflict) {
		t.Errorf("as it was read before the change: %v, want ConflictError", err)
	}
	c.Fail(kubetest.Failure{Lost: true})
	if _, err := api.Change(t.Context(), things, read(), kube.Edit{Path: replicas, Value: 7}); !errors.As(err, &conflict) {
		t.Errorf("made, and the answer lost: %v, want ConflictError, after which it is looked at again", err)
	}
	if n, _ := read().Int(replicas); n != 7 {
		t.Errorf("it has %d", n)
	}
	c.Fail(kubetest.Failure{Status: http.StatusForbidden, Reason: "Forbidden"})
	var exit *infra.ExitError
	if _, err := api.Change(t.Context(), things, read(), kube.Edit{Path: replicas, Value: 9}); errors.As(err, &conflict) || !errors.As(err, &exit) {
		t.Errorf("forbidden: %v, want what kubectl said", err)
	}
	if _, err := api.Get(t.Context(), things, "two"); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	must(t, api.TryCreate(t.Context(), things, "two", map[string]any{"replicas": 1}))
	for range 2 { // the name is the token: the second time it is there
		must(t, api.Create(t.Context(), things, "two", map[string]string{"kind": "new"}, map[string]any{"replicas": 1}))
	}
	found, err := api.List(t.Context(), things, "kind=new")
	must(t, err)
	if len(found) != 1 || found[0].Name() != "two" {
		t.Errorf("by its label: %v", found)
	}
}

// A field that a program keeps as its repository says is told by who manages it.
func TestKeepersOfFields(t *testing.T) {
	o := kube.Object{"metadata": map[string]any{"managedFields": []any{
		map[string]any{"manager": "kubectl", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:size": map[string]any{}}}},
		map[string]any{"manager": "argocd-controller", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}},
	}}}
	if is := o.Keeper(kube.At("spec.replicas")); is != "argocd-controller" {
		t.Errorf("kept by %q", is)
	}
	if is := o.Keeper(kube.At("spec.size")); is != "" {
		t.Errorf("kept by %q, and a person's kubectl keeps nothing", is)
	}
	o = kube.Object{"metadata": map[string]any{"managedFields": []any{
		map[string]any{"manager": "helm", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:racks": map[string]any{}, "f:pxc": map[string]any{"f:size": map[string]any{}}}}},
	}}}
	if is := o.Keeper(kube.At("spec.racks.1.members")); is != "helm" {
		t.Errorf("a list that is written as a whole is kept by %q", is)
	}
	if is := o.Keeper(kube.At("spec.pxc.configuration")); is != "" {
		t.Errorf("kept by %q, and only its neighbour is", is)
	}
}

// A path may lead into a list, as the racks of ScyllaDB are; what it was read from stays as it was.
func TestPathsIntoLists(t *testing.T) {
	o := kube.Object{"spec": map[string]any{"racks": []any{map[string]any{"name": "a", "members": 1}, map[string]any{"name": "b", "members": 2}}}}
	second := kube.At("spec.racks.1.members")
	changed := o.With(second, 3).With(kube.At("spec.racks.2.members"), 9).With(kube.At("spec.racks.x.members"), 9)
	if was, _ := o.Int(second); was != 2 {
		t.Errorf("the object it was read from has %d now", was)
	}
	if is, _ := changed.Int(second); is != 3 || changed.Text(kube.At("spec.racks.1.name")) != "b" || len(changed.List(kube.At("spec.racks"))) != 2 {
		t.Errorf("changed to %v", changed)
	}
	if is := changed.Get(kube.At("spec.racks.7.members")); is != nil {
		t.Errorf("an item that is not there is %v", is)
	}
}
