package kube_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	action_kube "plimsoll/action/kube"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra/kube"
	"plimsoll/infra/kube/kubetest"
	"plimsoll/infra/local"
)

// No Kubernetes, no operator and no cluster that one runs could be had: the API of these tests is kubetest, the operators are functions
// that do what their documentation and sources say, a step whenever their object is read, and the databases say what these functions did.

// The kinds that operators publish.
var (
	datacenters = kubetest.Published("cassandradatacenters", "db")
	tasks       = kubetest.Published("cassandratasks", "db")
	mariadbs    = atMostNine(kubetest.Published("mariadbs", "db"))
	scyllas     = kubetest.Published("scyllaclusters", "db")
	xtradbs     = kubetest.Published("perconaxtradbclusters", "db")
	perconas    = kubetest.Published("perconaservermysqls", "db")
	pods        = kube.Pods("db")
	services    = kube.Services("db")
	claims      = kube.Claims("db")

	kinds = map[string]kubetest.Kind{
		cluster.CassOperator: datacenters, cluster.MariaDBOperator: mariadbs, cluster.ScyllaOperator: scyllas,
		cluster.PerconaXtraDBOperator: xtradbs, cluster.PerconaServerOperator: perconas,
	}
)

func atMostNine(k kubetest.Kind) kubetest.Kind {
	k.Rule = func(o kube.Object) string {
		if n, _ := o.Int(kube.At("spec.replicas")); n > 9 {
			return "at most 9, says a rule of the test"
		}
		return ""
	}
	return k
}

// fixture is a cluster that an operator runs.
type fixture struct {
	*kubetest.Cluster
	real objects // a real API server in the stand-in's place; nil: there is none
	on   *cluster.Cluster

	mu       sync.Mutex
	applied  kube.Object // the object as the operator has last made it true
	stage    int
	hosts    map[string]string // of Cassandra: host ids by pod
	down     string            // a node of the ring that does not answer
	primary  int
	members  int
	settings map[string]string
}

// objects are what an operator, or another person, reads and changes.
type objects interface {
	Put(k kube.Kind, name string, fields kube.Object)
	Set(k kube.Kind, name, path string, value any)
	Delete(k kube.Kind, name string)
	Object(k kube.Kind, name string) kube.Object
	All(k kube.Kind) []kube.Object
}

func (w *fixture) objects() objects {
	if w.real != nil {
		return w.real
	}
	return w.Cluster
}

func (w *fixture) Put(k kube.Kind, name string, fields kube.Object) { w.objects().Put(k, name, fields) }
func (w *fixture) Set(k kube.Kind, name, path string, value any) {
	w.objects().Set(k, name, path, value)
}
func (w *fixture) Delete(k kube.Kind, name string)             { w.objects().Delete(k, name) }
func (w *fixture) Object(k kube.Kind, name string) kube.Object { return w.objects().Object(k, name) }
func (w *fixture) All(k kube.Kind) []kube.Object               { return w.objects().All(k) }

// newFixture is one whose nodes are pods NAME-0 to NAME-2. A place is done to it before anything is put into it.
func newFixture(t *testing.T, operator, engineName string, place ...func(*fixture)) *fixture {
	t.Helper()
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{Cluster: kubetest.New(datacenters, tasks, mariadbs, scyllas, xtradbs, perconas), hosts: map[string]string{}, settings: map[string]string{}}
	var nodes []cluster.Node
	for i := range 3 {
		nodes = append(nodes, cluster.Node{Name: fmt.Sprintf("n%d", i), Pod: fmt.Sprintf("db/shop-%d", i), Target: engine.Target{Engine: engineName, Addresses: []string{fmt.Sprint(i)}}})
	}
	w.on = &cluster.Cluster{
		Name: "shop", Environment: "production", Engine: servers{w, engineName}, Local: w.Machine(here),
		Kubernetes: &cluster.Kubernetes{Namespace: "db", Operator: operator, Name: "shop"},
		List:       func(context.Context) ([]cluster.Node, error) { return slices.Clone(nodes), nil },
	}
	w.on.Kubernetes.Paused = func(ctx context.Context) (bool, error) { return action_kube.Paused(ctx, w.on) }
	if engineName == "mysql" {
		w.on.AskRoles()
	}
	t.Cleanup(func() { _ = w.on.Close() })
	for _, do := range place {
		do(w)
	}
	return w
}

// set changes a field of the object by somebody else's hand.
func (w *fixture) set(path string, value any) {
	w.Set(w.kind(), "shop", path, value)
}

// kind is that of the object of the world's operator.
func (w *fixture) kind() kube.Kind { return kinds[w.on.Kubernetes.Operator].Kind }

func (w *fixture) action(t *testing.T, name string) action.Action {
	t.Helper()
	return actiontest.Find(t, action_kube.Actions(time.Millisecond), name)
}

// task is an action with its inputs.
func (w *fixture) task(t *testing.T, name, with string) action.Task {
	t.Helper()
	return actiontest.Bind(t, w.action(t, name), with)
}

func call(token string) action.Call {
	return action.Call{Run: "run", Token: token, Since: time.Now(), Before: action.Facts{}, Progress: func(float64, string) {}}
}

// act checks and acts, as a step does.
func (w *fixture) act(t *testing.T, task action.Task) error {
	t.Helper()
	f, err := task.Check(t.Context(), w.on.ReadOnly())
	if err != nil {
		return err
	}
	if f.State != action.Needed {
		return fmt.Errorf("it is %s: %s", f.State, f.Reason)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := call(t.Name())
	c.Before = f.Observed
	out, err := task.Act(ctx, w.on, c)
	if err != nil {
		return err
	}
	return task.(action.Verifier).Verify(ctx, w.on, out)
}

// refused holds a check, or the act after it, to an error that says something.
func (w *fixture) refused(t *testing.T, name, with, want string) {
	t.Helper()
	err := w.act(t, w.task(t, name, with))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s %s: %v, want %q", name, with, err, want)
	}
}

func (w *fixture) pod(i int, annotations map[string]any, labels map[string]any) {
	labels = maps.Clone(labels)
	labels["statefulset.kubernetes.io/pod-name"] = fmt.Sprintf("shop-%d", i)
	w.Put(pods, fmt.Sprintf("shop-%d", i), kube.Object{
		"metadata": map[string]any{"labels": labels, "annotations": annotations},
		"status":   map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	})
}

func conditions(all map[string]string) (list []any) {
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		list = append(list, map[string]any{"type": kind, "status": all[kind], "reason": "Test", "message": "", "lastTransitionTime": "2026-11-24T00:00:00Z"})
	}
	return list
}

// servers are the databases of the pods: they say what the operator's function did.
type servers struct {
	w    *fixture
	name string
}

func (s servers) Name() string { return s.name }

func (s servers) Open(_ context.Context, t engine.Target) (engine.Database, error) {
	if s.name == "mysql" {
		return replicated{database{s.w, t.Addresses[0]}}, nil
	}
	return ringed{database{s.w, t.Addresses[0]}}, nil
}

type database struct {
	w     *fixture
	index string
}

func (d database) Session(context.Context) (engine.Session, error) { return counting{d.w}, nil }
func (database) Facts(context.Context) (engine.Facts, error) {
	return engine.Facts{Product: "stand-in"}, nil
}
func (database) Close() error { return nil }
func (d database) Setting(_ context.Context, name string) (string, error) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	value, there := d.w.settings[name]
	if !there {
		return "", &engine.Unshown{Setting: name}
	}
	return value, nil
}
func (database) Change(context.Context, string, string) error { return errors.New("not here") }
func (database) SameValue(_, wrote, shown string) bool        { return wrote == shown }
func (database) WhyInvalid(_ context.Context, name, value string) (string, error) {
	if value == "abc" {
		return name + " cannot be abc: valid is a whole number", nil
	}
	return "", nil
}
func (database) Becomes(context.Context, string, string) (string, error) { return "", nil }
func (database) NeedsRestart(context.Context, string) (needs, known bool, err error) {
	return false, false, nil
}

// counting answers every query with the number of members: those that are asked here are for it.
type counting struct{ w *fixture }

func (counting) Prepare(context.Context, string) (engine.Statement, error) {
	return nil, errors.New("there is no server behind this")
}
func (c counting) Exec(_ context.Context, _ string, r *engine.Result) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	r.Reset()
	r.Rows, r.Columns, r.Values = 1, 1, append(r.Values, engine.Int(int64(c.w.members)))
	return nil
}
func (counting) Interrupt()   {}
func (counting) Close() error { return nil }

type replicated struct{ database }

func (d replicated) ReplicationStatus(context.Context) (engine.ReplicationStatus, error) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if d.index == fmt.Sprint(d.w.primary) {
		return engine.ReplicationStatus{Followers: d.w.members - 1}, nil
	}
	return engine.ReplicationStatus{ReadOnly: true, Sources: []engine.Source{{Address: fmt.Sprint(d.w.primary)}}}, nil
}

type ringed struct{ database }

func (d ringed) Ring(context.Context, string) (engine.Ring, error) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	r := engine.Ring{Members: []engine.Member{{Host: "elsewhere", Address: "10.9.9.9:9042", DataCentre: "dc2", Up: true, Part: engine.Normal}}}
	for _, pod := range slices.Sorted(maps.Keys(d.w.hosts)) {
		r.Members = append(r.Members, engine.Member{Host: d.w.hosts[pod], Address: pod + ":9042", DataCentre: "shop", Up: pod != d.w.down, Part: engine.Normal})
	}
	return r, nil
}
func (ringed) Streams(context.Context) ([]engine.Stream, error)         { return nil, nil }
func (ringed) Tasks(context.Context) ([]engine.Task, error)             { return nil, nil }
func (ringed) Hints(context.Context) ([]engine.Hint, error)             { return nil, nil }
func (ringed) Repairs(context.Context, string) ([]engine.Repair, error) { return nil, nil }
func (ringed) Sizes(context.Context, string) (map[string]int64, error)  { return nil, nil }
