package rds_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/hint"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// A parameter group that a primary and its replica share does not open the replica, by an act or by an undo. The API is a stand-in; the
// two servers are real, and one replicates from the other.
func TestASharedGroupDoesNotOpenAReplica(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	c := labtest.Cluster(t, lab.Spec{Name: "shared", Product: "mysql", Nodes: 2})
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	servers := lab.AsCluster(c, enginemysql.Engine{}, m)
	t.Cleanup(func() { _ = servers.Close() })
	nodes, err := servers.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, instance := range []string{"orders", "orders-2"} {
		nodes[i].Instance = instance
	}
	gone := cluster.Node{Name: "n9", Target: nodes[1].Target, Instance: "gone"}
	gone.Target.Addresses = []string{"127.0.0.1:1"}
	api := awstest.New(t)
	w := &fixture{Server: api}
	w.on = &cluster.Cluster{
		Name: "orders", Environment: cluster.Lab, Engine: enginemysql.Engine{}, Local: m, AWS: &cluster.AWS{Region: "eu-west-1"},
		List: func(context.Context) ([]cluster.Node, error) { return append(nodes[:2:2], gone), nil },
	}
	w.on.AskRoles()
	t.Cleanup(func() { _ = w.on.Close() })
	fill := func(readOnly string) {
		api.Instances.Add(awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Address: nodes[0].Target.Addresses[0], Group: "own"})
		api.Instances.Add(awstest.Instance{ID: "orders-2", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Address: nodes[1].Target.Addresses[0], Group: "own", Source: "orders"})
		api.ParameterGroups.Add("own", "read_only", readOnly, false)
		api.ParameterGroups.Add("own", "max_connections", "151", false)
	}
	call := action.Call{Token: "one", Before: action.Facts{"read_only": "0"}, Progress: func(float64, string) {}}
	refused := func(what string, err error) {
		t.Helper()
		var permanent *hint.PermanentError
		if !errors.As(err, &permanent) || !strings.Contains(permanent.Reason, "n1 accepts writes: n2 would be a second primary") {
			t.Errorf("%s: %v", what, err)
		}
		p, err := w.open(t).Parameter(t.Context(), "own", "read_only")
		if err != nil || p.Value == "0" {
			t.Errorf("%s: the group has read_only %s, %v", what, p.Value, err)
		}
	}

	fill("1")
	opens := w.bind(t, "rds.set-parameter", `{node: n1, name: read_only, value: "0"}`)
	_, err = opens.Check(t.Context(), w.on)
	refused("check", err)
	_, err = opens.Act(t.Context(), w.on, call)
	refused("act", err)
	refused("undo", w.bind(t, "rds.set-parameter", `{node: n1, name: read_only, value: "1"}`).(action.Undoer).Undo(t.Context(), w.on, call))
	for _, with := range []string{`{node: n1, name: read_only, value: "{TrueIfReplica}"}`, `{node: n1, name: read_only, value: "0", alone: true}`} {
		if f, err := w.bind(t, "rds.set-parameter", with).Check(t.Context(), w.on); err != nil || f.State != action.Needed {
			t.Errorf("%s: %+v, %v", with, f, err)
		}
	}

	other := w.bind(t, "rds.set-parameter", `{node: n1, name: max_connections, value: "77"}`)
	api.Parameter = func(_, name, value string) {
		for _, n := range nodes[:2] {
			if err := servers.Execute(context.Background(), n.Name, []string{"SET GLOBAL " + name + " = " + value}, func(int) {}); err != nil {
				t.Error(err)
			}
		}
	}
	const said = "not checked, because RDS does not know their instances: n9"
	f, err := other.Check(t.Context(), w.on)
	if err != nil || f.Reason != said {
		t.Errorf("found %+v, %v, want that n9 is passed over", f, err)
	}
	if out, err := other.Act(t.Context(), w.on, call); err != nil || out["note"] != said {
		t.Errorf("put out %v, %v, want that n9 is passed over", out, err)
	}
}
