package kube_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
)

// percona is what differs between the objects of Percona's two operators.
type percona struct {
	operator, servers, component string
	seen                         bool // it says which generation it has seen
}

var perconaKinds = []percona{{cluster.PerconaXtraDBOperator, "pxc", "pxc", true}, {cluster.PerconaServerOperator, "mysql", "database", false}}

func (p percona) labels() map[string]any {
	return map[string]any{"app.kubernetes.io/instance": "shop", "app.kubernetes.io/component": p.component}
}

// newPercona is a cluster of three.
func newPercona(t *testing.T, p percona, place ...func(*fixture)) *fixture {
	t.Helper()
	w := newFixture(t, p.operator, "mysql", place...)
	w.settings["max_connections"], w.members = "151", 3
	spec := map[string]any{p.servers: map[string]any{"size": 3, "image": "percona", "configuration": "[mysqld]\nmax_connections=151\n"}}
	if p.operator == cluster.PerconaServerOperator { // what the rules of its schema ask for
		spec["unsafeFlags"], spec["orchestrator"] = map[string]any{}, map[string]any{"enabled": false}
		spec["proxy"] = map[string]any{"haproxy": map[string]any{"enabled": true, "size": 2, "image": "haproxy"}, "router": map[string]any{"enabled": false}}
	}
	w.Put(w.kind(), "shop", kube.Object{
		"spec": spec,
		"status": map[string]any{
			"observedGeneration": 1, "state": "ready", p.servers: map[string]any{"size": 3, "ready": 3},
		},
	})
	for i := range 3 {
		w.pod(i, map[string]any{}, p.labels())
	}
	w.Operator = func(*kubetest.Cluster) { w.operatePercona(p) }
	return w
}

// operatePercona does the next thing that the operator would.
func (w *fixture) operatePercona(p percona) {
	o := w.Object(w.kind(), "shop")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.applied == nil {
		w.applied = o
	}
	if o.Generation() == w.applied.Generation() && w.stage == 0 {
		return
	}
	at := func(name string) kube.Path { return kube.Path{"spec", p.servers, name} }
	switch w.stage++; w.stage {
	case 1: // it has not noticed it: its status is that of before
	case 2:
		w.set("status.state", "initializing")
		if p.seen {
			w.set("status.observedGeneration", o.Generation())
		}
	case 3:
		size, _ := o.Int(at("size"))
		annotations, _ := o.Get(at("annotations")).(map[string]any)
		anew := fmt.Sprint(annotations) != fmt.Sprint(w.applied.Get(at("annotations"))) || o.Text(at("configuration")) != w.applied.Text(at("configuration"))
		for i := range max(size, int64(w.members)) {
			switch {
			case i >= size:
				w.Delete(pods, fmt.Sprintf("shop-%d", i))
			case i >= int64(w.members) || anew:
				w.pod(int(i), annotations, p.labels())
			}
		}
		w.members = int(size)
		for line := range strings.Lines(o.Text(at("configuration"))) {
			if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is {
				w.settings[name] = value
			}
		}
	case 4:
		w.set("status."+p.servers+".size", w.members)
		w.set("status.state", "ready")
		w.applied, w.stage = o, 0
	}
}

func TestPerconaConformance(t *testing.T) {
	for _, p := range perconaKinds {
		for name, with := range map[string]string{"kube.scale": "members: 5", "kube.set-parameter": `{name: max_connections, value: "300"}`, "kube.restart": "{}"} {
			t.Run(p.operator+"/"+name, func(t *testing.T) {
				w := newPercona(t, p)
				snapshot := func(t *testing.T) string {
					t.Helper()
					o := w.Object(w.kind(), "shop")
					w.mu.Lock()
					defer w.mu.Unlock()
					return fmt.Sprint(o["spec"], w.members, w.settings, len(w.All(pods)))
				}
				actiontest.Run(t, actiontest.Subject{Action: w.action(t, name), With: with, Cluster: w.on, Snapshot: snapshot, Always: name == "kube.restart"})
			})
		}
	}
}

func TestPerconaIsDoneWhenTheDatabaseShowsIt(t *testing.T) {
	for _, p := range perconaKinds {
		w := newPercona(t, p)
		uids := w.uids()
		for name, with := range map[string]string{"kube.scale": "members: 5", "kube.set-parameter": `{name: max_connections, value: "300"}`, "kube.restart": "{}"} {
			if err := w.act(t, w.task(t, name, with)); err != nil {
				t.Fatalf("%s: %s: %v", p.operator, name, err)
			}
		}
		if w.members != 5 || w.settings["max_connections"] != "300" || slices.ContainsFunc(w.uids(), func(uid string) bool { return slices.Contains(uids, uid) }) {
			t.Errorf("%s: done with %d members, %v, pods %v, which were %v", p.operator, w.members, w.settings, w.uids(), uids)
		}
	}
}

func TestWhatPerconasOperatorsAreNotAskedFor(t *testing.T) {
	for _, p := range perconaKinds {
		w := newPercona(t, p)
		w.refused(t, "kube.pause", "{}", "no way to pause for one cluster")
		w.refused(t, "kube.switchover", "pod: shop-1", "no way to choose a primary")
		w.refused(t, "kube.replace-node", "pod: shop-1", "no way to replace a member")
		w.refused(t, "kube.scale", "{members: 5, rack: a}", "deals members out to racks itself")
		for field, then := range map[string]struct {
			value            any
			name, with, want string
		}{
			"spec.pause":                           {true, "kube.scale", "members: 5", "spec.pause is true"},
			"spec.updateStrategy":                  {"OnDelete", "kube.restart", "{}", "does not restart servers by itself"},
			"spec." + p.servers + ".configuration": {nil, "kube.set-parameter", `{name: max_connections, value: "300"}`, "may be in the ConfigMap or the Secret shop-" + p.servers},
			"status.state":                         {"error", "kube.scale", "members: 5", "the state ready; now it is error"},
			"metadata.managedFields":               {[]any{map[string]any{"manager": "helm", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:" + p.servers: map[string]any{"f:size": map[string]any{}}}}}}, "kube.scale", "members: 5", "managed by helm"},
		} {
			w := newPercona(t, p)
			w.Operator = nil
			w.set(field, then.value)
			w.set("status.observedGeneration", w.Object(w.kind(), "shop").Generation())
			w.refused(t, then.name, then.with, then.want)
		}
		w = newPercona(t, p)
		w.members = 2 // one has left the group, and the status does not say so
		w.refused(t, "kube.scale", "members: 5", "; now there are 2")
	}
	w := newPercona(t, perconaKinds[0])
	w.refused(t, "kube.scale", "members: 4", "it takes 3 or 5 members")
}
