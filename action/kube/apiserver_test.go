//go:build linux

package kube_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/kube/kubetest/apiserver"
	"plimsoll/infra/local"
)

// granted are the permissions that docs/kubernetes.md asks for, by operator.
var granted = map[string]string{
	cluster.CassOperator: `
- {apiGroups: [cassandra.datastax.com], resources: [cassandradatacenters], verbs: [get, list, update]}
- {apiGroups: [control.k8ssandra.io], resources: [cassandratasks], verbs: [get, list, create]}
- {apiGroups: [""], resources: [pods], verbs: [get, list]}`,
	cluster.MariaDBOperator: `
- {apiGroups: [k8s.mariadb.com], resources: [mariadbs], verbs: [get, list, update]}
- {apiGroups: [""], resources: [pods], verbs: [get, list]}`,
	cluster.ScyllaOperator: `
- {apiGroups: [scylla.scylladb.com], resources: [scyllaclusters], verbs: [get, list, update]}
- {apiGroups: [""], resources: [services], verbs: [get, list, update]}
- {apiGroups: [""], resources: [pods, persistentvolumeclaims], verbs: [get, list]}`,
	cluster.PerconaXtraDBOperator: `
- {apiGroups: [pxc.percona.com], resources: [perconaxtradbclusters], verbs: [get, list, update]}
- {apiGroups: [""], resources: [pods], verbs: [get, list]}`,
	cluster.PerconaServerOperator: `
- {apiGroups: [ps.percona.com], resources: [perconaservermysqls], verbs: [get, list, update]}
- {apiGroups: [""], resources: [pods], verbs: [get, list]}`,
}

// The actions through the real kubectl to a real API server, with the permissions that are documented and no others. The operators and the
// databases are the stand-ins of the other tests, and there is no kubelet.
func TestActionsOnARealAPIServer(t *testing.T) {
	type step struct{ name, with string }
	scale, restart := step{"kube.scale", "members: 5"}, step{"kube.restart", "{}"}
	for operator, of := range map[string]struct {
		make  func(t *testing.T, place ...func(*fixture)) *fixture
		steps []step
	}{
		cluster.CassOperator: {newCassandra, []step{scale, {"kube.set-parameter", `{name: concurrent_reads, value: "64"}`}, restart, {"kube.replace-node", "pod: shop-1"}}},
		cluster.ScyllaOperator: {newScylla, []step{
			{"kube.scale", "members: 6"}, restart, {"kube.replace-node", "pod: shop-1"}, {"kube.enter-maintenance", "pod: shop-2"}, {"kube.leave-maintenance", "pod: shop-2"},
		}},
		cluster.MariaDBOperator: {newMariaDB, []step{
			scale, {"kube.set-parameter", `{name: max_connections, value: "300"}`}, {"kube.switchover", "pod: shop-1"}, restart, {"kube.pause", "{}"}, {"kube.resume", "{}"},
		}},
		cluster.PerconaXtraDBOperator: {ofPercona(perconaKinds[0]), []step{scale, {"kube.set-parameter", `{name: max_connections, value: "300"}`}, restart}},
		cluster.PerconaServerOperator: {ofPercona(perconaKinds[1]), []step{scale, {"kube.set-parameter", `{name: max_connections, value: "300"}`}, restart}},
	} {
		t.Run(operator, func(t *testing.T) {
			w := of.make(t, onServer(t, operator))
			w.work(t)
			for _, s := range of.steps {
				began := time.Now()
				if err := w.actReally(t, s.name, s.with); err != nil {
					t.Fatalf("%s %s: %v", s.name, s.with, err)
				}
				t.Logf("%s: %.0f s", s.name, time.Since(began).Seconds())
			}
		})
	}
}

func ofPercona(p percona) func(t *testing.T, place ...func(*fixture)) *fixture {
	return func(t *testing.T, place ...func(*fixture)) *fixture { t.Helper(); return newPercona(t, p, place...) }
}

// onServer puts a world on a real API server.
func onServer(t *testing.T, operator string) func(*fixture) {
	t.Helper()
	s := apiserver.Start(t)
	s.Grant(granted[operator])
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return func(w *fixture) {
		w.real, w.on.Local = s, here
		w.on.Kubernetes.Config, w.on.Kubernetes.Context = s.Config(), "test"
	}
}

// work has the operator do the next thing now and then, until the test ends.
func (w *fixture) work(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(300 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				w.Operator(nil)
			}
		}
	})
	t.Cleanup(func() { cancel(); done.Wait() })
}

// actReally is act with the patience that a real kubectl needs.
func (w *fixture) actReally(t *testing.T, name, with string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	task := w.task(t, name, with)
	f, err := task.Check(ctx, w.on.ReadOnly())
	if err != nil {
		return err
	}
	if f.State != action.Needed {
		t.Errorf("%s is %s: %s", name, f.State, f.Reason)
	}
	c := call(name)
	c.Before = f.Observed
	out, err := task.Act(ctx, w.on, c)
	if err != nil {
		return err
	}
	if undoer, is := task.(action.Undoer); is && name == "kube.scale" {
		if err := undoer.Undo(ctx, w.on, c); err != nil {
			return err
		}
		return nil
	}
	return task.(action.Verifier).Verify(ctx, w.on, out)
}
