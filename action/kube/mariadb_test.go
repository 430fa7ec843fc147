package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
)

var mariadbLabels = map[string]any{"app.kubernetes.io/name": "mariadb", "app.kubernetes.io/instance": "shop"}

// newMariaDB is a primary with two replicas.
func newMariaDB(t *testing.T, place ...func(*fixture)) *fixture {
	t.Helper()
	w := newFixture(t, cluster.MariaDBOperator, "mysql", place...)
	w.settings["bind-address"], w.settings["max_connections"], w.members = "*", "151", 3
	w.Put(mariadbs.Kind, "shop", kube.Object{
		"spec": map[string]any{
			"suspend":  false, // the default of its resource
			"replicas": 3, "myCnf": "[mariadb]\nbind-address=*\nmax_connections=151\n",
			"replication": map[string]any{
				"enabled": true, "primary": map[string]any{"podIndex": 0},
				"replica": map[string]any{"bootstrapFrom": map[string]any{"physicalBackupTemplateRef": map[string]any{"name": "nightly"}}},
			},
		},
		"status": map[string]any{"replicas": 3, "currentPrimaryPodIndex": 0, "currentPrimary": "shop-0", "conditions": conditions(map[string]string{"Ready": "True", "Updated": "True"})},
	})
	for i := range 3 {
		w.pod(i, map[string]any{}, mariadbLabels)
	}
	w.Operator = w.operateMariaDB
	return w
}

// operateMariaDB does the next thing that mariadb-operator would: it notices a change late, says that it is not ready, makes it true, and
// says that it is ready.
func (w *fixture) operateMariaDB(*kubetest.Cluster) {
	o := w.Object(mariadbs.Kind, "shop")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.applied == nil {
		w.applied = o
	}
	if o == nil || o.Is(kube.At("spec.suspend")) || o.Generation() == w.applied.Generation() && w.stage == 0 {
		return
	}
	switch w.stage++; w.stage {
	case 1: // it has not noticed it: its status is that of before
	case 2:
		w.Set(mariadbs.Kind, "shop", "status.conditions", conditions(map[string]string{"Ready": "False", "Updated": "False"}))
	case 3:
		size, _ := o.Int(kube.At("spec.replicas"))
		before, _ := w.applied.Int(kube.At("spec.replicas"))
		annotations, _ := o.Get(kube.At("spec.podMetadata.annotations")).(map[string]any)
		anew := o.Text(kube.At("spec.podMetadata")) != w.applied.Text(kube.At("spec.podMetadata")) || o.Text(kube.At("spec.myCnf")) != w.applied.Text(kube.At("spec.myCnf"))
		for i := range max(size, before) {
			switch {
			case i >= size:
				w.Delete(pods, fmt.Sprintf("shop-%d", i))
			case i >= before || anew:
				w.pod(int(i), annotations, mariadbLabels)
			}
		}
		w.members = int(size)
		for line := range strings.Lines(o.Text(kube.At("spec.myCnf"))) {
			if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is {
				w.settings[name] = value
			}
		}
		if to, said := o.Int(kube.At("spec.replication.primary.podIndex")); said {
			w.primary = int(to)
		}
	case 4:
		w.Set(mariadbs.Kind, "shop", "status.replicas", w.members)
		w.Set(mariadbs.Kind, "shop", "status.currentPrimaryPodIndex", w.primary)
		w.Set(mariadbs.Kind, "shop", "status.currentPrimary", fmt.Sprintf("shop-%d", w.primary))
		w.Set(mariadbs.Kind, "shop", "status.conditions", conditions(map[string]string{"Ready": "True", "Updated": "True"}))
		w.applied, w.stage = o, 0
	}
}

// snapshot is all that acting can change, but for what counts changes.
func (w *fixture) snapshot(t *testing.T) string {
	t.Helper()
	var all []string
	for _, k := range []kube.Kind{mariadbs.Kind, datacenters.Kind} {
		for _, o := range w.All(k) {
			all = append(all, fmt.Sprint(o["spec"]), fmt.Sprint(o["status"]))
		}
	}
	for _, p := range w.All(pods) {
		all = append(all, p.Name())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(all, "\n") + fmt.Sprint(w.primary, w.members, w.settings, len(w.hosts))
}

func TestMariaDBConformance(t *testing.T) {
	for name, with := range map[string]string{
		"kube.scale": "members: 4", "kube.set-parameter": `{name: max_connections, value: "300"}`, "kube.switchover": "pod: shop-2", "kube.pause": "{}", "kube.restart": "{}",
	} {
		t.Run(name, func(t *testing.T) {
			w := newMariaDB(t)
			actiontest.Run(t, actiontest.Subject{Action: w.action(t, name), With: with, Cluster: w.on, Snapshot: w.snapshot, Always: name == "kube.restart"})
		})
	}
}

// A change counts as done when the operator, the pods and the database show it, not when the status still says that all is well.
func TestMariaDBIsDoneWhenTheDatabaseShowsIt(t *testing.T) {
	for name, with := range map[string]string{"kube.scale": "members: 5", "kube.set-parameter": `{name: max_connections, value: "300"}`, "kube.switchover": "pod: shop-1", "kube.restart": "{}"} {
		t.Run(name, func(t *testing.T) {
			w := newMariaDB(t)
			uids := w.uids()
			if err := w.act(t, w.task(t, name, with)); err != nil {
				t.Fatal(err)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			switch name {
			case "kube.scale":
				if w.members != 5 || len(w.All(pods)) != 5 {
					t.Errorf("done with %d members and %d pods", w.members, len(w.All(pods)))
				}
			case "kube.set-parameter":
				if w.settings["max_connections"] != "300" || w.settings["bind-address"] != "*" {
					t.Errorf("done with %v", w.settings)
				}
			case "kube.switchover":
				if w.primary != 1 {
					t.Errorf("done with primary %d", w.primary)
				}
			case "kube.restart":
				if again := w.uids(); len(again) != 3 || slices.ContainsFunc(again, func(uid string) bool { return slices.Contains(uids, uid) }) {
					t.Errorf("done with pods %v, which were %v", again, uids)
				}
			}
			writes := 0
			for _, write := range w.Writes() {
				if !strings.Contains(write, "fieldValidation=Strict") {
					t.Errorf("a write that is not strict: %s", write)
				}
				if !strings.Contains(write, "dryRun=All") {
					writes++
				}
			}
			if writes != 1 {
				t.Errorf("%d writes: %v", writes, w.Writes())
			}
		})
	}
}

func (w *fixture) uids() (all []string) {
	for _, p := range w.All(pods) {
		all = append(all, p.UID())
	}
	return all
}

// An operator that is down, or a database that does not follow, is waited for and not taken for done.
func TestAnOperatorThatDoesNothingIsWaitedFor(t *testing.T) {
	w := newMariaDB(t)
	task := w.task(t, "kube.scale", "members: 4")
	w.Operator = nil
	ctx, cancel := context.WithCancelCause(t.Context())
	patience := errors.New("the test has seen enough")
	c := call("token")
	looks := 0
	c.Progress = func(_ float64, said string) {
		if looks++; looks == 20 {
			cancel(patience)
		}
		if !strings.Contains(said, "replicas in its status") {
			t.Errorf("it says %q", said)
		}
	}
	if _, err := task.Act(ctx, w.on, c); !errors.Is(err, patience) {
		t.Errorf("with an operator that is down: %v", err)
	}
}

// A conflict is looked at again: a status that the operator wrote is no matter, a suspended object is.
func TestConflicts(t *testing.T) {
	w := newMariaDB(t)
	w.Fail(kubetest.Failure{Before: func(*kubetest.Cluster) { w.set("status.note", "written by the operator") }})
	if err := w.act(t, w.task(t, "kube.scale", "members: 4")); err != nil {
		t.Fatal(err)
	}
	w.Fail(kubetest.Failure{Before: func(*kubetest.Cluster) { w.set("spec.suspend", true) }})
	w.refused(t, "kube.scale", "members: 5", "spec.suspend is true")
	if n, _ := w.Object(mariadbs.Kind, "shop").Int(kube.At("spec.replicas")); n != 4 {
		t.Errorf("it was scaled to %d all the same", n)
	}
	w.set("spec.suspend", false)
	w.Fail(kubetest.Failure{Lost: true}) // made, and nobody told
	if err := w.act(t, w.task(t, "kube.scale", "members: 5")); err != nil {
		t.Errorf("with a lost answer: %v", err)
	}
	w.Fail(kubetest.Failure{Status: http.StatusForbidden, Reason: "Forbidden"})
	w.refused(t, "kube.scale", "members: 4", "Forbidden")
}

func TestWhatMariaDBOperatorIsNotAskedFor(t *testing.T) {
	w := newMariaDB(t)
	w.refused(t, "kube.switchover", "pod: shop-3", "has no pod shop-3")
	w.refused(t, "kube.switchover", "pod: other-1", "has no pod other-1")
	w.refused(t, "kube.replace-node", "pod: shop-1", "no way to replace")
	w.refused(t, "kube.set-parameter", "{name: no_such, value: 1}", "does not show no_such")
	w.refused(t, "kube.set-parameter", "{name: max_connections, value: abc}", "max_connections cannot be abc")
	for field, then := range map[string]struct {
		value            any
		name, with, want string
	}{
		"spec.suspend":                      {true, "kube.scale", "members: 4", "spec.suspend is true"},
		"spec.updateStrategy.type":          {"OnDelete", "kube.restart", "{}", "does not restart servers by itself"},
		"spec.maxScaleRef.name":             {"front", "kube.switchover", "pod: shop-1", "MaxScale chooses the primary"},
		"spec.replication.replica":          {nil, "kube.scale", "members: 4", "bootstrapFrom"},
		"spec.myCnf":                        {nil, "kube.set-parameter", `{name: max_connections, value: "300"}`, "in the ConfigMap own"},
		"metadata.deletionTimestamp":        {"2026-11-24T00:00:00Z", "kube.restart", "{}", "is being deleted"},
		"status.conditions":                 {conditions(map[string]string{"Ready": "True", "Updated": "False"}), "kube.scale", "members: 4", "still working on an earlier change"},
		"metadata.managedFields":            {[]any{map[string]any{"manager": "argocd-controller", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}}}, "kube.scale", "members: 4", "managed by argocd-controller"},
		"spec.replication.primary.podIndex": {2, "kube.scale", "members: 2", "which would be removed"},
	} {
		w := newMariaDB(t)
		w.set("spec.myCnfConfigMapKeyRef.name", "own")
		w.set(field, then.value)
		if field == "spec.replication.primary.podIndex" {
			w.set("status.currentPrimaryPodIndex", 2)
			w.primary = 2
		}
		w.refused(t, then.name, then.with, then.want)
	}
	w = newMariaDB(t)
	w.on.Kubernetes = nil
	w.refused(t, "kube.scale", "members: 4", "which object of Kubernetes")
}

// Somebody else who asks for another size meanwhile ends the waiting.
func TestASizeThatOthersChangeMeanwhile(t *testing.T) {
	w := newMariaDB(t)
	c := call("token")
	c.Progress = func(float64, string) { w.set("spec.replicas", 7) }
	_, err := w.task(t, "kube.scale", "members: 4").Act(t.Context(), w.on, c)
	var permanent *hint.PermanentError
	if !errors.As(err, &permanent) || !strings.Contains(err.Error(), "somebody else changed spec.replicas") {
		t.Errorf("%v", err)
	}
}

func TestPauseAndResume(t *testing.T) {
	w := newMariaDB(t)
	if err := w.act(t, w.task(t, "kube.pause", "{}")); err != nil {
		t.Fatal(err)
	}
	w.refused(t, "kube.restart", "{}", "spec.suspend is true")
	if err := action.Operated(t.Context(), w.on, "promote a replica", "kube/switchover"); err != nil {
		t.Errorf("while the operator leaves it alone: %v", err)
	}
	w.set("spec.replicas", 4) // by others, which the operator finds when it looks again
	if err := w.act(t, w.task(t, "kube.resume", "{}")); err != nil {
		t.Fatal(err)
	}
	if w.members != 4 {
		t.Errorf("resumed, and done with %d members", w.members)
	}
	var refused *hint.PermanentError
	if err := action.Operated(t.Context(), w.on, "promote a replica", "kube/switchover"); !errors.As(err, &refused) || !strings.Contains(refused.Advice, "kube/switchover") {
		t.Errorf("while the operator looks after it: %v", err)
	}
	f, err := w.task(t, "kube.resume", "{}").Check(t.Context(), w.on)
	if err != nil || f.State != action.Satisfied {
		t.Errorf("once more: %v, %v", f.State, err)
	}
}

// The rules of the schema are asked before anything is done.
func TestRulesOfTheSchemaRefuseAPlan(t *testing.T) {
	w := newMariaDB(t)
	w.refused(t, "kube.scale", "members: 10", "at most 9, says a rule of the test")
	if len(w.Writes()) != 1 || !strings.Contains(w.Writes()[0], "dryRun=All") {
		t.Errorf("written: %v", w.Writes())
	}
}
