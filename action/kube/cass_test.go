package kube_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
)

var cassLabels = map[string]any{"cassandra.datastax.com/datacenter": "shop"}

// newCassandra is a data centre of three nodes in three racks, beside another of the same ring.
func newCassandra(t *testing.T, place ...func(*fixture)) *fixture {
	t.Helper()
	w := newFixture(t, cluster.CassOperator, "cql", place...)
	w.settings["concurrent_reads"] = "32"
	statuses := map[string]any{}
	for i := range 3 {
		w.pod(i, map[string]any{}, cassLabels)
		pod := fmt.Sprintf("shop-%d", i)
		w.hosts[pod] = "host-" + pod
		statuses[pod] = map[string]any{"hostID": "host-" + pod}
	}
	w.Put(datacenters.Kind, "shop", kube.Object{
		"spec": map[string]any{
			"size": 3, "clusterName": "shop", "serverType": "cassandra", "serverVersion": "5.0.5", "storageConfig": map[string]any{},
			"racks":  []any{map[string]any{"name": "r1"}, map[string]any{"name": "r2"}, map[string]any{"name": "r3"}},
			"config": map[string]any{"cassandra-yaml": map[string]any{"concurrent_reads": 32}},
		},
		"status": map[string]any{
			"observedGeneration": 1, "cassandraOperatorProgress": "Ready", "nodeStatuses": statuses,
			"conditions": conditions(map[string]string{"Ready": "True", "Valid": "True"}),
		},
	})
	w.Operator = w.operateCassandra
	return w
}

// operateCassandra does the next thing that cass-operator would, of a change of the object or else of a task.
func (w *fixture) operateCassandra(*kubetest.Cluster) {
	o := w.Object(datacenters.Kind, "shop")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.applied == nil {
		w.applied = o
	}
	task := w.nextTask()
	changed := o.Generation() != w.applied.Generation()
	if !changed && task == nil && w.stage == 0 {
		return
	}
	doing := "ScalingUp"
	if !changed && task != nil {
		doing = map[string]string{"restart": "RollingRestart", "replacenode": "ReplacingNodes"}[task.List(kube.At("spec.jobs"))[0].Text(kube.At("command"))]
	}
	switch w.stage++; w.stage {
	case 1: // it has not noticed it
	case 2:
		w.Set(datacenters.Kind, "shop", "status.observedGeneration", o.Generation())
		w.Set(datacenters.Kind, "shop", "status.cassandraOperatorProgress", "Updating")
		w.Set(datacenters.Kind, "shop", "status.conditions", conditions(map[string]string{"Ready": "True", "Valid": "True", doing: "True"}))
	case 3:
		w.changePods(o, task, changed)
	case 4:
		statuses := map[string]any{}
		for pod, host := range w.hosts {
			statuses[pod] = map[string]any{"hostID": host}
		}
		w.Set(datacenters.Kind, "shop", "status.nodeStatuses", statuses)
		w.Set(datacenters.Kind, "shop", "status.cassandraOperatorProgress", "Ready")
		w.Set(datacenters.Kind, "shop", "status.conditions", conditions(map[string]string{"Ready": "True", "Valid": "True", doing: "False"}))
		if !changed && task != nil {
			w.Set(tasks.Kind, task.Name(), "status.conditions", conditions(map[string]string{"Complete": "True"}))
			w.Set(tasks.Kind, task.Name(), "status.completionTime", "2026-11-24T00:00:00Z")
		}
		w.applied, w.stage = o, 0
	}
}

// nextTask is one that is not done; nil if there is none.
func (w *fixture) nextTask() kube.Object {
	for _, t := range w.All(tasks.Kind) {
		if failed, _ := t.Condition("Failed"); failed != "True" && t.Text(kube.At("status.completionTime")) == "" {
			return t
		}
	}
	return nil
}

func (w *fixture) changePods(o, task kube.Object, changed bool) {
	if !changed && task != nil {
		job := task.List(kube.At("spec.jobs"))[0]
		for i := range 3 {
			pod := fmt.Sprintf("shop-%d", i)
			switch {
			case job.Text(kube.At("command")) == "restart":
				w.pod(i, map[string]any{}, cassLabels)
			case job.Text(kube.At("args.pod_name")) == pod:
				w.pod(i, map[string]any{}, cassLabels)
				w.hosts[pod] += "-anew"
			}
		}
		return
	}
	size, _ := o.Int(kube.At("spec.size"))
	for i := range max(size, int64(len(w.hosts))) {
		pod := fmt.Sprintf("shop-%d", i)
		switch {
		case i >= size:
			w.Delete(pods, pod)
			delete(w.hosts, pod)
		case w.hosts[pod] == "":
			w.pod(int(i), map[string]any{}, cassLabels)
			w.hosts[pod] = "host-" + pod
		}
	}
	if v, ok := o.Get(kube.Path{"spec", "config", "cassandra-yaml", "concurrent_reads"}).(json.Number); ok {
		w.settings["concurrent_reads"] = v.String()
	}
}

func TestCassandraConformance(t *testing.T) {
	for name, with := range map[string]string{
		"kube.scale": "members: 5", "kube.set-parameter": `{name: concurrent_reads, value: "64"}`, "kube.restart": "{}", "kube.replace-node": "pod: shop-1",
	} {
		t.Run(name, func(t *testing.T) {
			w := newCassandra(t)
			once := name == "kube.restart" || name == "kube.replace-node" // no state says that it was done
			actiontest.Run(t, actiontest.Subject{Action: w.action(t, name), With: with, Cluster: w.on, Snapshot: w.snapshotOfRing, Always: once})
		})
	}
}

// snapshotOfRing is without generations, which every change counts.
func (w *fixture) snapshotOfRing(t *testing.T) string {
	t.Helper()
	o := w.Object(datacenters.Kind, "shop")
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(o["spec"], slices.Sorted(maps.Keys(w.hosts)), w.settings, len(w.All(pods)))
}

func TestCassandraIsDoneWhenTheRingShowsIt(t *testing.T) {
	w := newCassandra(t)
	if err := w.act(t, w.task(t, "kube.scale", "members: 6")); err != nil || len(w.hosts) != 6 {
		t.Fatalf("%v, %v", err, w.hosts)
	}
	w = newCassandra(t)
	uids := w.uids()
	if err := w.act(t, w.task(t, "kube.restart", "{}")); err != nil {
		t.Fatal(err)
	}
	for _, uid := range w.uids() {
		if slices.Contains(uids, uid) {
			t.Errorf("pod %s was not started anew", uid)
		}
	}
	w = newCassandra(t)
	if err := w.act(t, w.task(t, "kube.replace-node", "pod: shop-1")); err != nil || w.hosts["shop-1"] != "host-shop-1-anew" || w.hosts["shop-2"] != "host-shop-2" {
		t.Fatalf("%v, %v", err, w.hosts)
	}
	w = newCassandra(t)
	if err := w.act(t, w.task(t, "kube.set-parameter", `{name: concurrent_reads, value: "64"}`)); err != nil || w.settings["concurrent_reads"] != "64" {
		t.Fatalf("%v, %v", err, w.settings)
	}
	if v, is := w.Object(datacenters.Kind, "shop").Get(kube.Path{"spec", "config", "cassandra-yaml", "concurrent_reads"}).(json.Number); !is || v != "64" {
		t.Errorf("it was written as %v", v)
	}
}

// A second attempt at one intention finds the task of the first.
func TestATaskIsMadeOnceForAnIntention(t *testing.T) {
	w := newCassandra(t)
	task := w.task(t, "kube.replace-node", "pod: shop-1")
	c := call("one")
	c.Before = action.Facts{"host": "host-shop-1"}
	w.Fail(kubetest.Failure{Lost: true}) // made, and nobody told
	for range 2 {
		if _, err := task.Act(t.Context(), w.on, c); err != nil {
			t.Fatal(err)
		}
	}
	if all := w.All(tasks.Kind); len(all) != 1 || w.hosts["shop-1"] != "host-shop-1-anew" {
		t.Errorf("%d tasks, and the node is %s", len(all), w.hosts["shop-1"])
	}
	for _, write := range w.Writes() {
		if !strings.Contains(write, "fieldValidation=Strict") {
			t.Errorf("a write that is not strict: %s", write)
		}
	}
}

func TestWhatCassOperatorIsNotAskedFor(t *testing.T) {
	w := newCassandra(t)
	w.refused(t, "kube.pause", "{}", "no way to pause for one cluster")
	w.refused(t, "kube.switchover", "pod: shop-1", "no way to choose a primary")
	w.refused(t, "kube.replace-node", "pod: shop-9", "no node in pod shop-9")
	w.refused(t, "kube.scale", "members: 2", "fewer than the 3 racks")
	w.down = "shop-2"
	w.refused(t, "kube.replace-node", "pod: shop-1", "is DN")
	w.refused(t, "kube.scale", "members: 4", "still working on an earlier change")
	w.down = ""
	for field, then := range map[string]struct {
		value            any
		name, with, want string
	}{
		"spec.stopped":      {true, "kube.scale", "members: 4", "spec.stopped is true"},
		"spec.configSecret": {"own", "kube.set-parameter", `{name: concurrent_reads, value: "64"}`, "in the Secret own"},
		"status.conditions": {conditions(map[string]string{"Ready": "True", "Valid": "False"}), "kube.scale", "members: 4", "reports that it is invalid"},
	} {
		w := newCassandra(t)
		w.Operator = nil
		w.set(field, then.value)
		w.set("status.observedGeneration", 2)
		w.refused(t, then.name, then.with, then.want)
	}
	w = newCassandra(t)
	w.Operator = nil
	w.set("status.observedGeneration", 0) // it has not seen the last change of others
	w.refused(t, "kube.scale", "members: 4", "the operator to see generation 1 (it has seen 0)")

	w = newCassandra(t)
	w.Operator = nil
	w.Put(tasks.Kind, "cleanup-1", kube.Object{"spec": map[string]any{"datacenter": map[string]any{"name": "shop"}}})
	w.refused(t, "kube.restart", "{}", "CassandraTask db/cleanup-1 is in progress")
}

// A task that fails ends the step, with the operator's reason.
func TestATaskThatFails(t *testing.T) {
	w := newCassandra(t)
	c := call("one")
	c.Progress = func(_ float64, said string) {
		for _, made := range w.All(tasks.Kind) {
			w.Operator = nil
			w.Set(tasks.Kind, made.Name(), "status.conditions", conditions(map[string]string{"Failed": "True"}))
		}
	}
	if _, err := w.task(t, "kube.restart", "{}").Act(t.Context(), w.on, c); err == nil || !strings.Contains(err.Error(), "failed (Test)") {
		t.Errorf("%v", err)
	}
}
