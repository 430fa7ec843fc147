//go:build linux

package kube_test

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/infra"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
	"plimsoll/infra/kube/kubetest/apiserver"
)

// A real API server with the schemas of real operators: what is refused, what is fenced, and what the permissions are.
func TestChangesByARealAPIServer(t *testing.T) {
	s := apiserver.Start(t)
	scyllas, perconas := kubetest.Published("scyllaclusters", "db").Kind, kubetest.Published("perconaservermysqls", "db").Kind
	s.Put(scyllas, "shop", kube.Object{
		"spec": map[string]any{"version": "2026.1.0", "datacenter": map[string]any{"name": "dc1", "racks": []any{rack("a"), rack("b")}}},
		"status": map[string]any{"observedGeneration": 1, "conditions": []any{map[string]any{
			"type": "Available", "status": "True", "reason": "AsExpected", "message": "", "lastTransitionTime": "2026-11-24T00:00:00Z",
		}}},
	})
	s.Grant(`
- {apiGroups: [scylla.scylladb.com], resources: [scyllaclusters], verbs: [get, list, update]}
- {apiGroups: [ps.percona.com], resources: [perconaservermysqls], verbs: [get, list]}
`)
	api := kube.NewAPI(here(t), kube.Access{Config: s.Config(), Context: "test"})
	members := kube.At("spec.datacenter.racks.1.members")
	read := func() kube.Object {
		t.Helper()
		o, err := api.Get(t.Context(), scyllas, "shop")
		must(t, err)
		return o
	}

	o := read()
	if status, reason := o.Condition("Available"); status != "True" || reason != "AsExpected" || o.Generation() != 1 {
		t.Errorf("generation %d, condition %s, %s", o.Generation(), status, reason)
	}
	must(t, api.Try(t.Context(), scyllas, o, kube.Edit{Path: members, Value: 3}))
	if n, _ := read().Int(members); n != 1 {
		t.Errorf("a try has changed it to %d", n)
	}
	for path, want := range map[string]string{"spec.forceRedeploymentReazon": "unknown field", "spec.datacenter.racks.1.membres": "unknown field"} {
		if err := api.Try(t.Context(), scyllas, o, kube.Edit{Path: kube.At(path), Value: "x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if err := api.Try(t.Context(), scyllas, o, kube.Edit{Path: members, Value: "three"}); err == nil || !strings.Contains(err.Error(), "must be of type integer") {
		t.Errorf("a text for a number: %v", err)
	}
	changed, err := api.Change(t.Context(), scyllas, o, kube.Edit{Path: members, Value: 3}, kube.Edit{Path: kube.At("status.observedGeneration"), Value: 1})
	must(t, err)
	if n, _ := changed.Int(members); n != 3 || changed.Generation() != 2 || changed.Text(kube.At("spec.datacenter.racks.0.members")) != "1" {
		t.Errorf("changed to %v", changed["spec"])
	}
	if seen, _ := read().Int(kube.At("status.observedGeneration")); seen != 1 {
		t.Errorf("the status, which is the operator's, is of generation %d", seen)
	}
	var conflict *kube.ConflictError
	if _, err := api.Change(t.Context(), scyllas, o, kube.Edit{Path: members, Value: 5}); !errors.As(err, &conflict) {
		t.Errorf("as it was read before the change: %v, want ConflictError", err)
	}
	if _, err := api.Get(t.Context(), scyllas, "other"); !errors.Is(err, kube.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}

	// What was not granted is refused in the plan already, and is no conflict.
	var exit *infra.ExitError
	if err := api.TryCreate(t.Context(), scyllas, "new", map[string]any{"version": "1"}); !errors.As(err, &exit) || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("a creation that is not granted: %v", err)
	}
	if _, err := api.List(t.Context(), kube.Pods("db"), ""); err == nil || !strings.Contains(err.Error(), "orbidden") {
		t.Errorf("pods, which are not granted: %v", err)
	}
	for verb, want := range map[string]string{"update": "yes", "create": "no", "delete": "no"} {
		if said, _ := s.KubectlAs("--namespace=db", "auth", "can-i", verb, "scyllaclusters.scylla.scylladb.com"); strings.TrimSpace(said) != want {
			t.Errorf("kubectl auth can-i %s scyllaclusters: %q, want %s", verb, said, want)
		}
	}
	s.Grant(`
- {apiGroups: [ps.percona.com], resources: [perconaservermysqls], verbs: [create, update]}
`)

	// Rules of the schema hold in a try: Percona's for the size of a group.
	size := kube.At("spec.mysql.size")
	s.Put(perconas, "shop", kube.Object{"spec": map[string]any{
		"mysql": map[string]any{"size": 3, "image": "percona", "clusterType": "group-replication"}, "unsafeFlags": map[string]any{"proxy": true},
		"orchestrator": map[string]any{"enabled": false}, "proxy": map[string]any{"haproxy": map[string]any{"enabled": false}, "router": map[string]any{"enabled": false}},
	}})
	p, err := api.Get(t.Context(), perconas, "shop")
	must(t, err)
	must(t, api.Try(t.Context(), perconas, p, kube.Edit{Path: size, Value: 5}))
	if err := api.Try(t.Context(), perconas, p, kube.Edit{Path: size, Value: 4}); err == nil || !strings.Contains(err.Error(), "even number") {
		t.Errorf("an even group: %v", err)
	}
}

func rack(name string) map[string]any {
	return map[string]any{
		"name": name, "members": 1, "scyllaConfig": "", "scyllaAgentConfig": "", "storage": map[string]any{"capacity": "10Gi"}, "resources": map[string]any{},
	}
}
