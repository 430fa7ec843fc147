package fault_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/action/fault"
	"plimsoll/cluster"
	"plimsoll/engine/mysql"
	"plimsoll/hint"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// What is done to servers and data of a lab does what it should, on a real server. Power failures and disks, which need a file system
// of their own, are tried in timelines (trial/run).
func TestServersOfALab(t *testing.T) {
	c := labtest.Cluster(t, lab.Spec{
		Name: "servers", Product: "mariadb", Config: map[string]string{"innodb_log_file_size": "8M", "innodb_buffer_pool_size": "32M"},
	})
	must(t, c.Save(t.Context()))
	on := lab.AsCluster(c, mysql.Engine{}, c.Server("n1").Machine())
	defer func() { _ = on.Close() }()
	state := func(t *testing.T) string {
		running, err := c.Server("n1").Running(t.Context())
		must(t, err)
		settings, err := c.Server("n1").Settings(t.Context())
		must(t, err)
		return fmt.Sprintf("runs %v with %v", running, settings)
	}
	quick := []time.Duration{0}
	t.Run("server.configure", func(t *testing.T) {
		actiontest.Run(t, actiontest.Subject{Action: server(t, "server.configure"), With: `{node: n1, config: {max_connections: "77"}}`,
			Cluster: on, Snapshot: state, Cuts: quick})
	})
	t.Run("fault.restore", func(t *testing.T) {
		actiontest.Run(t, actiontest.Subject{Action: find(t, "fault.restore"), With: `{}`, Cluster: on, Snapshot: state, Always: true, Cuts: quick})
	})
	t.Run("what this lab was not made for", func(t *testing.T) {
		for name, c := range map[string]struct{ with, hint string }{
			"fault.power-fail":  {"{node: n1}", "create it with cluster: {forgetful: true}"},
			"fault.change-disk": {"{node: n1, type: gp2, size: 100G}", "plimsoll lab up mariadb --disk gp2:800GiB --name NAME"},
		} {
			if _, err := actiontest.Bind(t, find(t, name), c.with).Act(t.Context(), on, action.Call{}); err == nil || !strings.Contains(hint.Of(err), c.hint) {
				t.Errorf("%s: %v, want it refused with the hint %q, not %q", name, err, c.hint, hint.Of(err))
			}
		}
	})
	t.Run("server.add", func(t *testing.T) {
		out, err := actiontest.Bind(t, server(t, "server.add"), "{}").Act(t.Context(), on, action.Call{})
		must(t, err)
		on.RolesChanged()
		if primary, err := on.Primary(t.Context()); err != nil || out["node"] != "n2" || primary.Name != "n1" {
			t.Errorf("added %v, of which %s is the primary: %v", out, primary.Name, err)
		}
		if refuses, known := on.RefusesWrites(t.Context(), "n2"); !refuses || !known {
			t.Error("the node that was added is no replica")
		}
	})
}

// existing is a server that can only be started and stopped, as those of the inventory.
type existing struct{}

func (existing) Running(context.Context) (bool, error) { return true, nil }
func (existing) Start(context.Context) error           { return nil }
func (existing) Stop(context.Context) error            { return nil }

// A cluster that is no lab refuses, says so, and names what to do.
func TestWhatOnlyALabOffersIsRefusedElsewhere(t *testing.T) {
	shop := &cluster.Cluster{Name: "shop", Environment: cluster.Staging, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "db1", Server: existing{}}}, nil
	}}
	for name, with := range map[string]string{
		"server.kill": "{node: db1}", "server.freeze": "{node: db1}", "server.configure": "{node: db1, config: {a: b}}", "server.add": "{}",
		"fault.power-fail": "{node: db1}", "fault.change-disk": "{node: db1, type: gp2, size: 100G}", "fault.restore": "{}",
	} {
		a, ok := action.Find(append(fault.Actions(), action.Servers()...), name)
		if !ok {
			t.Fatalf("no action %s", name)
		}
		task := actiontest.Bind(t, a, with)
		_, acted := task.Act(t.Context(), shop, action.Call{})
		_, checked := task.Check(t.Context(), shop.ReadOnly())
		for what, err := range map[string]error{"executed": acted, "planned": checked} {
			var refused *hint.PermanentError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "shop") || !strings.Contains(refused.Advice, "lab") {
				t.Errorf("%s, %s on a cluster that is no lab: %v", name, what, err)
			}
		}
	}
}

func server(t *testing.T, name string) action.Action {
	t.Helper()
	a, ok := action.Find(action.Servers(), name)
	if !ok {
		t.Fatalf("no action %s", name)
	}
	return a
}
