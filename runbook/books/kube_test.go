package books_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	action_kube "plimsoll/action/kube"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
	"plimsoll/infra/local"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// No Kubernetes can be had here: these runs change a stand-in, whose operator makes true what its object says when it is asked twice.

var mariadbObject = kubetest.Kind{
	Kind:   kube.Kind{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "MariaDB", Plural: "mariadbs", Namespace: "db"},
	Fields: []string{"replicas", "suspend", "podMetadata.annotations.*"},
}

func operated(t *testing.T) (*kubetest.Cluster, *execute.Service, func(order journal.Command, run string) *journal.State) {
	t.Helper()
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c := kubetest.New(mariadbObject)
	c.Put(mariadbObject.Kind, "shop", kube.Object{"spec": map[string]any{"replicas": 2}})
	seen := int64(0)
	c.Operator = func(c *kubetest.Cluster) {
		o := c.Object(mariadbObject.Kind, "shop")
		if o.Is(kube.At("spec.suspend")) {
			return
		}
		if o.Generation() != seen { // the first time it only notices
			seen = o.Generation()
			c.Set(mariadbObject.Kind, "shop", "status.conditions", []any{map[string]any{"type": "Ready", "status": "False"}})
			return
		}
		size, _ := o.Int(kube.At("spec.replicas"))
		annotations, _ := o.Get(kube.At("spec.podMetadata.annotations")).(map[string]any)
		for i := range max(size, int64(len(c.All(kube.Pods("db"))))) {
			name := fmt.Sprintf("shop-%d", i)
			if i >= size {
				c.Delete(kube.Pods("db"), name)
				continue
			}
			c.Put(kube.Pods("db"), name, kube.Object{
				"metadata": map[string]any{"annotations": annotations, "labels": map[string]any{
					"app.kubernetes.io/name": "mariadb", "app.kubernetes.io/instance": "shop", "statefulset.kubernetes.io/pod-name": name,
				}},
				"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
			})
		}
		c.Set(mariadbObject.Kind, "shop", "status", map[string]any{"replicas": size, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
	}
	for range 2 { // it has made it true long ago
		c.Operator(c)
	}
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	s := serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
		return &cluster.Cluster{
			Name: clusterName, Environment: "lab", Local: c.Machine(here), Kubernetes: &cluster.Kubernetes{Namespace: "db", Operator: cluster.MariaDBOperator, Name: "shop"},
			List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "shop-0"}}, nil },
		}, nil
	})
	s.ClusterLock, s.Actions = nil, slices.Concat(s.Actions, action_kube.Actions(time.Millisecond))
	x, err := s.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, s, func(order journal.Command, run string) *journal.State {
		t.Helper()
		if err := s.Start(t.Context(), x, run, order); err != nil {
			t.Fatal(err)
		}
		if err := x.Wait(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		st, err := s.State(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
}

func TestAnOperatorsClusterIsChangedAndGivenBack(t *testing.T) {
	c, s, session := operated(t)
	size := func() int64 {
		n, _ := c.Object(mariadbObject.Kind, "shop").Int(kube.At("spec.replicas"))
		return n
	}
	run, err := begin(t.Context(), s, "kube/scale", "members=4")
	if err != nil {
		t.Fatal(err)
	}
	if st := session(journal.Command{Do: "run"}, run); st.Outcome != journal.RunDone || size() != 4 || len(c.All(kube.Pods("db"))) != 4 {
		t.Fatalf("kube/scale: %q, %s; %d members", st.Outcome, st.Why, size())
	}
	if st := session(journal.Command{Do: "cancel", Undo: true, Reason: "it was too much"}, run); st.Outcome != journal.RunUndone || size() != 2 {
		t.Fatalf("taken back: %q, %s; %d members", st.Outcome, st.Why, size())
	}
	for _, name := range []string{"kube/rolling-restart", "kube/pause", "kube/resume"} {
		if run, err = begin(t.Context(), s, name); err != nil {
			t.Fatal(err)
		}
		if st := session(journal.Command{Do: "run"}, run); st.Outcome != journal.RunDone {
			t.Fatalf("%s: %q, %s", name, st.Outcome, st.Why)
		}
		if paused := c.Object(mariadbObject.Kind, "shop").Is(kube.At("spec.suspend")); paused != (name == "kube/pause") {
			t.Errorf("after %s the operator is paused: %v", name, paused)
		}
	}
}
