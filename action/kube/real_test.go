package kube_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// Real servers behind the stand-in: what the operator's function does to them by SQL, the actions see in them. A change of the object alone,
// with a status that says that all is well, is not taken for done.
func TestRealServersTellWhenAnOperatorIsDone(t *testing.T) {
	c := labtest.Cluster(t, lab.Spec{Name: "kube", Product: "mariadb", Nodes: 3})
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &realServers{Cluster: kubetest.New(mariadbs), t: t}
	on := lab.AsCluster(c, mysql.Engine{}, w.Machine(here))
	list := on.List
	on.List = func(ctx context.Context) ([]cluster.Node, error) {
		nodes, err := list(ctx)
		for i := range nodes {
			nodes[i].Pod = fmt.Sprintf("db/shop-%d", i)
		}
		return nodes, err
	}
	on.AskRoles()
	on.Kubernetes = &cluster.Kubernetes{Namespace: "db", Operator: cluster.MariaDBOperator, Name: "shop"}
	t.Cleanup(func() { _ = on.Close() })
	w.on = on
	w.Put(mariadbs.Kind, "shop", kube.Object{
		"spec": map[string]any{"replicas": 3, "myCnf": "[mariadb]\nmax_connections=151\n", "replication": map[string]any{"enabled": true, "primary": map[string]any{"podIndex": 0}}},
		"status": map[string]any{
			"replicas": 3, "currentPrimaryPodIndex": 0, "currentPrimary": "shop-0", "conditions": conditions(map[string]string{"Ready": "True"}),
		},
	})
	seen := &fixture{Cluster: w.Cluster, on: on}
	for i := range 3 {
		seen.pod(i, map[string]any{}, mariadbLabels)
	}
	w.Operator = w.operate

	if err := seen.act(t, seen.task(t, "kube.set-parameter", `{name: max_connections, value: "333"}`)); err != nil {
		t.Fatal(err)
	}
	for _, node := range w.nodes() {
		if is := w.value(node.Name, "SELECT @@global.max_connections"); is != "333" {
			t.Errorf("done, and %s has %s", node.Name, is)
		}
	}
	if err := seen.act(t, seen.task(t, "kube.switchover", "pod: shop-2")); err != nil {
		t.Fatal(err)
	}
	if n, err := on.Primary(t.Context()); err != nil || n.Pod != "db/shop-2" {
		t.Errorf("done, and the primary is %s, %v", n.Name, err)
	}
	w.Set(mariadbs.Kind, "shop", "spec.replicas", 4) // by others; the operator says that there are, and no server follows
	w.Set(mariadbs.Kind, "shop", "status.replicas", 4)
	seen.pod(3, map[string]any{}, mariadbLabels)
	f, err := seen.task(t, "kube.scale", "members: 4").Check(t.Context(), on)
	if err != nil || !strings.Contains(f.Reason, "3 replicas to replicate from the primary; now 2 do") {
		t.Errorf("four by its status, three by the servers: %s %q, %v", f.State, f.Reason, err)
	}
}

// What Percona's servers are asked is understood by a MySQL: one that is in no group counts no members.
func TestWhatPerconasServersAreAskedIsSQL(t *testing.T) {
	c := labtest.Cluster(t, lab.Spec{Name: "kube-percona", Product: "mysql", Nodes: 1})
	for _, p := range perconaKinds {
		w := newPercona(t, p)
		real := lab.AsCluster(c, mysql.Engine{}, w.on.Local)
		t.Cleanup(func() { _ = real.Close() })
		real.Kubernetes = w.on.Kubernetes
		w.on = real
		f, err := w.task(t, "kube.scale", "members: 3").Check(t.Context(), real)
		want := map[string]string{
			cluster.PerconaXtraDBOperator: "3 members of the Galera cluster; now there are NULL",
			cluster.PerconaServerOperator: "3 members of the group that are online; now there are 0",
		}[p.operator]
		if err != nil || !strings.Contains(f.Reason, want) {
			t.Errorf("%s: %s %q, %v; want %q", p.operator, f.State, f.Reason, err, want)
		}
	}
}

// realServers are servers that a function works in an operator's place.
type realServers struct {
	*kubetest.Cluster
	t       *testing.T
	on      *cluster.Cluster
	changed int
	primary int64
}

func (w *realServers) nodes() []cluster.Node {
	nodes, err := w.on.List(context.WithoutCancel(w.t.Context()))
	if err != nil {
		w.t.Error(err)
	}
	return nodes
}

func (w *realServers) tell(node string, statements ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := w.on.Use(ctx, node, func(s engine.Session) error {
		for _, text := range statements {
			if err := s.Exec(ctx, text, nil); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	})
	if err != nil {
		w.t.Errorf("node %s: %v", node, err)
	}
}

func (w *realServers) value(node, query string) string {
	is, err := w.on.Value(context.Background(), node, query)
	if err != nil {
		w.t.Error(err)
	}
	return is
}

// operate changes a server at a time, as an operator goes from pod to pod. Its status never says that it is at anything.
func (w *realServers) operate(*kubetest.Cluster) {
	o := w.Object(mariadbs.Kind, "shop")
	nodes := w.nodes()
	if _, after, said := strings.Cut(o.Text(kube.At("spec.myCnf")), "max_connections="); said && w.changed < len(nodes) {
		value, _, _ := strings.Cut(after, "\n")
		if value == "333" {
			w.tell(nodes[w.changed].Name, "SET GLOBAL max_connections = "+value)
			w.changed++
		}
	}
	to, _ := o.Int(kube.At("spec.replication.primary.podIndex"))
	if to == w.primary {
		return
	}
	w.tell(nodes[w.primary].Name, "SET GLOBAL read_only = 1")
	if behind := w.value(nodes[to].Name, "SELECT MASTER_GTID_WAIT('"+w.value(nodes[w.primary].Name, "SELECT @@global.gtid_binlog_pos")+"', 60)"); behind != "0" {
		w.t.Errorf("node %s does not catch up with the primary: %s", nodes[to].Name, behind)
	}
	w.tell(nodes[to].Name, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0")
	target := nodes[to].Target
	host, port, err := net.SplitHostPort(target.Addresses[0])
	if err != nil {
		w.t.Error(err)
	}
	for i, n := range nodes {
		if int64(i) != to {
			w.tell(n.Name, "STOP SLAVE", fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_SSL = 0, MASTER_USE_GTID = current_pos",
				host, port, target.User, string(target.Password)), "START SLAVE")
		}
	}
	w.primary = to
	w.Set(mariadbs.Kind, "shop", "status.currentPrimaryPodIndex", to)
	w.Set(mariadbs.Kind, "shop", "status.currentPrimary", fmt.Sprintf("shop-%d", to))
}
