package kube_test

import (
	"errors"
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

var scyllaLabels = map[string]any{"scylla/cluster": "shop"}

const (
	maintenanceLabel = "scylla/node-maintenance"
	hostAnnotation   = "internal.scylla-operator.scylladb.com/host-id"
	reasonAnnotation = "scylla-operator.scylladb.com/force-redeployment-reason"
)

// newScylla is a data centre of three nodes in three racks, beside another of the same ring.
func newScylla(t *testing.T, place ...func(*fixture)) *fixture {
	t.Helper()
	w := newFixture(t, cluster.ScyllaOperator, "cql", place...)
	var racks []any
	for i, rack := range []string{"a", "b", "c"} {
		racks = append(racks, map[string]any{
			"name": rack, "members": 1, "scyllaConfig": "", "scyllaAgentConfig": "", "storage": map[string]any{"capacity": "10Gi"}, "resources": map[string]any{},
		})
		w.scyllaNode(i, "host-"+fmt.Sprintf("shop-%d", i))
	}
	w.Put(scyllas.Kind, "shop", kube.Object{
		"spec":   map[string]any{"version": "2026.1.0", "datacenter": map[string]any{"name": "shop", "racks": racks}},
		"status": map[string]any{"observedGeneration": 1, "conditions": conditions(scyllaWell)},
	})
	w.Operator = w.operateScylla
	return w
}

var scyllaWell = map[string]string{"Available": "True", "Progressing": "False", "Degraded": "False"}

// scyllaNode is a pod with its member Service and its claim.
func (w *fixture) scyllaNode(i int, host string) {
	pod := fmt.Sprintf("shop-%d", i)
	w.hosts[pod] = host
	w.pod(i, map[string]any{}, scyllaLabels)
	w.Put(services, pod, kube.Object{"metadata": map[string]any{"labels": maps.Clone(scyllaLabels), "annotations": map[string]any{hostAnnotation: host}}})
	w.Put(claims, "data-"+pod, kube.Object{})
}

// operateScylla does the next thing that scylla-operator would, of a change of the object or else of a label of a Service.
func (w *fixture) operateScylla(*kubetest.Cluster) {
	o := w.Object(scyllas.Kind, "shop")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.applied == nil {
		w.applied = o
	}
	w.probe()
	replaced := ""
	for _, s := range w.All(services) {
		if s.Get(kube.Path{"metadata", "labels", "scylla/replace"}) != nil {
			replaced = s.Name()
		}
	}
	changed := o.Generation() != w.applied.Generation()
	if !changed && replaced == "" && w.stage == 0 {
		return
	}
	switch w.stage++; w.stage {
	case 1: // it has not noticed it
	case 2:
		w.Set(scyllas.Kind, "shop", "status.observedGeneration", o.Generation())
		w.Set(scyllas.Kind, "shop", "status.conditions", conditions(map[string]string{"Available": "True", "Progressing": "True", "Degraded": "False"}))
	case 3:
		w.changeScylla(o, changed, replaced)
	case 4:
		w.Set(scyllas.Kind, "shop", "status.conditions", conditions(scyllaWell))
		if !changed && replaced != "" {
			w.label(replaced, "scylla/replace", nil)
		}
		w.applied, w.stage = o, 0
	}
}

// probe is what the kubelet does: a pod in maintenance is not ready.
func (w *fixture) probe() {
	for _, s := range w.All(services) {
		status := "True"
		if s.Get(kube.Path{"metadata", "labels", maintenanceLabel}) != nil {
			status = "False"
		}
		if pod := w.Object(pods, s.Name()); pod != nil {
			if is, _ := pod.Condition("Ready"); is != status {
				w.Set(pods, s.Name(), "status.conditions", conditions(map[string]string{"Ready": status}))
			}
		}
	}
}

// label changes a label of a Service, of which Set takes no dots.
func (w *fixture) label(service, name string, value any) {
	labels, _ := w.Object(services, service).Get(kube.At("metadata.labels")).(map[string]any)
	w.Set(services, service, "metadata.labels", map[string]any(kube.Object(labels).With(kube.Path{name}, value)))
}

func (w *fixture) changeScylla(o kube.Object, changed bool, replaced string) {
	if !changed {
		if replaced != "" {
			service := w.Object(services, replaced)
			host, _ := service.Get(kube.Path{"metadata", "annotations", hostAnnotation}).(string)
			w.Delete(claims, "data-"+replaced)
			w.Put(claims, "data-"+replaced, kube.Object{})
			w.hosts[replaced] = host + "-anew"
			w.Set(services, replaced, "metadata.annotations", map[string]any{hostAnnotation: host + "-anew"})
			var i int
			_, _ = fmt.Sscanf(replaced, "shop-%d", &i)
			w.pod(i, map[string]any{}, scyllaLabels)
		}
		return
	}
	size := int64(0)
	for _, rack := range o.List(kube.At("spec.datacenter.racks")) {
		n, _ := rack.Int(kube.At("members"))
		size += n
	}
	annotations := map[string]any{}
	if reason := o.Text(kube.At("spec.forceRedeploymentReason")); reason != "" {
		annotations[reasonAnnotation] = reason
	}
	for i := range max(size, int64(len(w.hosts))) {
		pod := fmt.Sprintf("shop-%d", i)
		switch {
		case i >= size:
			w.Delete(pods, pod)
			w.Delete(services, pod)
			w.Delete(claims, "data-"+pod)
			delete(w.hosts, pod)
		case w.hosts[pod] == "":
			w.scyllaNode(int(i), "host-"+pod)
		default:
			w.pod(int(i), annotations, scyllaLabels)
		}
	}
}

func TestScyllaConformance(t *testing.T) {
	for name, with := range map[string]string{
		"kube.scale": "members: 6", "kube.restart": "{}", "kube.replace-node": "pod: shop-1", "kube.enter-maintenance": "pod: shop-1",
	} {
		t.Run(name, func(t *testing.T) {
			w := newScylla(t)
			once := name == "kube.restart" || name == "kube.replace-node" // no state says that it was done
			actiontest.Run(t, actiontest.Subject{Action: w.action(t, name), With: with, Cluster: w.on, Snapshot: w.snapshotOfScylla, Always: once})
		})
	}
}

func (w *fixture) snapshotOfScylla(t *testing.T) string {
	t.Helper()
	var labels []string
	for _, s := range w.All(services) {
		labels = append(labels, fmt.Sprint(s.Get(kube.At("metadata.labels"))))
	}
	o := w.Object(scyllas.Kind, "shop")
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(o["spec"], slices.Sorted(maps.Keys(w.hosts)), len(w.All(pods)), labels)
}

func TestScyllaIsDoneWhenTheRingShowsIt(t *testing.T) {
	w := newScylla(t)
	if err := w.act(t, w.task(t, "kube.scale", "{members: 3, rack: b}")); err != nil || len(w.hosts) != 5 {
		t.Fatalf("%v, %v", err, w.hosts)
	}
	if got := w.Object(scyllas.Kind, "shop").Text(kube.At("spec.datacenter.racks.1.members")) + w.Object(scyllas.Kind, "shop").Text(kube.At("spec.datacenter.racks.0.members")); got != "31" {
		t.Errorf("racks b and a have %s", got)
	}
	w.refused(t, "kube.scale", "members: 6", "they are not the same in each rack")
	w = newScylla(t)
	uids := w.uids()
	if err := w.act(t, w.task(t, "kube.restart", "{}")); err != nil {
		t.Fatal(err)
	}
	if again := w.uids(); slices.ContainsFunc(again, func(uid string) bool { return slices.Contains(uids, uid) }) {
		t.Errorf("restarted, and the pods are %v, which were %v", again, uids)
	}
	w = newScylla(t)
	if err := w.act(t, w.task(t, "kube.replace-node", "pod: shop-1")); err != nil || w.hosts["shop-1"] != "host-shop-1-anew" || w.hosts["shop-2"] != "host-shop-2" {
		t.Fatalf("%v, %v", err, w.hosts)
	}
	for _, write := range w.Writes() {
		if !strings.Contains(write, "fieldValidation=Strict") {
			t.Errorf("a write that is not strict: %s", write)
		}
	}
}

// A second attempt at one intention finds what the first one asked for, even when the operator is done with it; another intention asks anew.
func TestALabelIsSetOnceForAnIntention(t *testing.T) {
	w := newScylla(t)
	task := w.task(t, "kube.replace-node", "pod: shop-1")
	c := call("one")
	c.Before = action.Facts{"host": "host-shop-1"}
	w.Fail(kubetest.Failure{Lost: true}) // made, and nobody told
	for range 2 {
		if _, err := task.Act(t.Context(), w.on, c); err != nil {
			t.Fatal(err)
		}
	}
	if w.hosts["shop-1"] != "host-shop-1-anew" {
		t.Errorf("the node is %s", w.hosts["shop-1"])
	}
	c = call("two")
	c.Before = action.Facts{"host": "host-shop-1-anew"}
	if _, err := task.Act(t.Context(), w.on, c); err != nil || w.hosts["shop-1"] != "host-shop-1-anew-anew" {
		t.Errorf("%v; the node is %s", err, w.hosts["shop-1"])
	}
}

// The operator may delete the Service with the marks and make another, which knows of no node at first: it is waited for, and nobody is
// asked again.
func TestAServiceThatIsMadeAnewIsNotLabelledAgain(t *testing.T) {
	w := newScylla(t)
	task := w.task(t, "kube.replace-node", "pod: shop-1")
	stage, set := 0, 0
	operates := w.operateScylla
	w.Operator = func(c *kubetest.Cluster) {
		o := w.Object(services, "shop-1")
		if o.Get(kube.Path{"metadata", "labels", "scylla/replace"}) != nil {
			set++
		}
		anew := func(annotations map[string]any) {
			w.Put(services, "shop-1", kube.Object{"metadata": map[string]any{"labels": maps.Clone(scyllaLabels), "annotations": annotations}})
		}
		switch {
		case stage == 0 && set == 0:
			operates(c)
			return
		case stage == 1:
			w.Delete(services, "shop-1")
		case stage == 3:
			anew(map[string]any{})
		case stage == 5:
			w.mu.Lock()
			w.hosts["shop-1"] = "host-anew"
			w.mu.Unlock()
			anew(map[string]any{hostAnnotation: "host-anew"})
		}
		stage++
	}
	c := call("one")
	c.Before = action.Facts{"host": "host-shop-1"}
	for range 2 {
		out, err := task.Act(t.Context(), w.on, c)
		if err == nil {
			err = task.(action.Verifier).Verify(t.Context(), w.on, out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if w.Object(services, "shop-1").Get(kube.Path{"metadata", "labels", "scylla/replace"}) != nil || set == 0 || stage < 6 {
		t.Errorf("it was asked for again; stage %d", stage)
	}
	w.label("shop-1", "scylla/replace", "") // somebody else's
	c = call("two")
	c.Before = action.Facts{"host": "host-anew"}
	if _, err := task.Act(t.Context(), w.on, c); err == nil || !strings.Contains(err.Error(), "already replacing") {
		t.Errorf("beside another replacement: %v", err)
	}
}

// A Service that somebody deleted and made anew between the plan and the act, with the same node, is not the one that was looked at.
func TestAServiceThatIsAnotherNowIsNotLabelled(t *testing.T) {
	w := newScylla(t)
	task := w.task(t, "kube.replace-node", "pod: shop-1")
	found, err := task.Check(t.Context(), w.on)
	if err != nil || found.Observed["service"] != w.Object(services, "shop-1").UID() {
		t.Fatalf("%v, %v", found.Observed, err)
	}
	was := w.Object(services, "shop-1")
	w.Delete(services, "shop-1")
	w.Put(services, "shop-1", kube.Object{"metadata": map[string]any{"labels": was.Get(kube.At("metadata.labels")), "annotations": was.Get(kube.At("metadata.annotations"))}})
	c := call("one")
	c.Before = found.Observed
	var nothing action.NothingDone
	if _, err := task.Act(t.Context(), w.on, c); !errors.As(err, &nothing) || !strings.Contains(err.Error(), "the Service shop-1 was deleted and created again since the replacement was planned") {
		t.Errorf("%v, want it refused", err)
	}
	if left := fmt.Sprint(w.Object(services, "shop-1").Get(kube.At("metadata.labels"))); left != "map[scylla/cluster:shop]" || w.hosts["shop-1"] != "host-shop-1" {
		t.Errorf("it was labelled: %s; the node is %s", left, w.hosts["shop-1"])
	}
}

func TestWhatScyllaOperatorIsNotAskedFor(t *testing.T) {
	w := newScylla(t)
	w.refused(t, "kube.pause", "{}", "no way to pause for one cluster")
	w.refused(t, "kube.switchover", "pod: shop-1", "no way to choose a primary")
	w.refused(t, "kube.set-parameter", `{name: a, value: "1"}`, "no way to set a parameter")
	w.refused(t, "kube.replace-node", "pod: shop-9", "no node in pod shop-9")
	w.refused(t, "kube.scale", "{members: 4}", "they are not the same in each rack")
	w.refused(t, "kube.scale", "{members: 4, rack: z}", "has no rack z")
	w.down = "shop-2"
	w.refused(t, "kube.replace-node", "pod: shop-1", "is DN")
	w.refused(t, "kube.scale", "members: 6", "still working on an earlier change")
	w.down = ""
	w.label("shop-0", "scylla/replace", "")
	w.Operator = nil
	w.refused(t, "kube.replace-node", "pod: shop-0", "already replacing the node in pod shop-0")
	w = newScylla(t)
	w.Operator = nil
	w.set("status.conditions", conditions(map[string]string{"Available": "True", "Progressing": "False", "Degraded": "True"}))
	w.refused(t, "kube.restart", "{}", "the condition Degraded to be False")
	w = newScylla(t)
	w.Operator = nil
	w.set("spec.datacenter.racks", []any{})
	w.refused(t, "kube.scale", "members: 3", "has no racks")
	w = newScylla(t)
	w.set("metadata.managedFields", []any{map[string]any{"manager": "argocd-controller", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:datacenter": map[string]any{"f:racks": map[string]any{}}}}}})
	w.refused(t, "kube.scale", "members: 6", "managed by argocd-controller")
}

// A node that is worked on by hand keeps its claim, or does not come back as if nothing had happened.
func TestMaintenanceKeepsTheClaim(t *testing.T) {
	w := newScylla(t)
	uid := w.Object(claims, "data-shop-1").UID()
	if err := w.act(t, w.task(t, "kube.enter-maintenance", "pod: shop-1")); err != nil {
		t.Fatal(err)
	}
	if ready, _ := w.Object(pods, "shop-1").Condition("Ready"); ready != "False" {
		t.Errorf("in maintenance, and its pod is ready: %s", ready)
	}
	w.refused(t, "kube.restart", "{}", "2 of 3 are")
	if err := w.act(t, w.task(t, "kube.leave-maintenance", "pod: shop-1")); err != nil {
		t.Fatal(err)
	}
	if now := w.Object(claims, "data-shop-1").UID(); now != uid || w.hosts["shop-1"] != "host-shop-1" {
		t.Errorf("its claim is %s, and was %s; its node is %s", now, uid, w.hosts["shop-1"])
	}
	if left := fmt.Sprint(w.Object(services, "shop-1").Get(kube.At("metadata.labels"))); left != "map[scylla/cluster:shop]" {
		t.Errorf("what is left of it: %s", left)
	}

	if err := w.act(t, w.task(t, "kube.enter-maintenance", "pod: shop-1")); err != nil {
		t.Fatal(err)
	}
	w.Delete(claims, "data-shop-1")
	w.Put(claims, "data-shop-1", kube.Object{})
	w.refused(t, "kube.leave-maintenance", "pod: shop-1", "the volume claim db/data-shop-1 was deleted")

	w = newScylla(t)
	w.set("spec.automaticOrphanedNodeCleanup", true)
	w.set("status.observedGeneration", 2)
	w.Operator = nil
	w.refused(t, "kube.enter-maintenance", "pod: shop-1", "the operator deletes its volume claim by itself")
	w.refused(t, "kube.enter-maintenance", "pod: shop-7", "no node in pod shop-7")
	newCassandra(t).refused(t, "kube.enter-maintenance", "pod: shop-1", "no way to take one node out of service")
	newMariaDB(t).refused(t, "kube.enter-maintenance", "pod: shop-1", "no way to take one node out of service")
}
