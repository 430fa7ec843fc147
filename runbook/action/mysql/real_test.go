package mysql

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/infra/local"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/runbook/action"
	"plimsoll/runbook/action/actiontest"
)

// newLab makes a cluster of real servers.
func newLab(t *testing.T, product string, nodes int) *action.Site {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	deps := lab.Deps{Machine: m, Launchers: []engine.Launcher{enginemysql.Servers{}}, Home: t.TempDir(), Cache: cache}
	c, err := lab.Up(t.Context(), lab.Spec{
		Name: "rb-" + product, Product: product, Nodes: nodes, Config: map[string]string{"innodb_buffer_pool_size": "64M"},
	}, deps)
	if err != nil {
		t.Fatal(err)
	}
	site := action.OfLab(c, enginemysql.Engine{}, m)
	t.Cleanup(func() {
		_ = site.Close()
		if err := c.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return site
}

func values(site *action.Site, node string, queries ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		var all []string
		for _, q := range queries {
			v, err := site.Value(t.Context(), node, q)
			if err != nil {
				v = err.Error()
			}
			all = append(all, q+": "+v)
		}
		return strings.Join(all, "\n")
	}
}

func running(site *action.Site, node string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		n, err := site.Node(t.Context(), node)
		if err != nil {
			t.Fatal(err)
		}
		is, err := n.Server.Running(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := n.Server.(action.Breaker).Frozen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return map[bool]string{true: "running", false: "stopped"}[is] + map[bool]string{true: ", frozen"}[frozen]
	}
}

// conform puts the actions through their suite on a real cluster.
func conform(t *testing.T, site *action.Site) {
	t.Helper()
	find := func(all []action.Action, name string) action.Action {
		t.Helper()
		a, ok := action.Find(all, name)
		if !ok {
			t.Fatalf("no action %s", name)
		}
		return a
	}
	cuts := []time.Duration{0, 20 * time.Millisecond, time.Second}
	for _, c := range []struct {
		name string
		s    actiontest.Subject
	}{
		{"set-variable", actiontest.Subject{
			Action: setVariable, With: `{node: n2, name: max_connections, value: 77}`, Snapshot: values(site, "n2", "SELECT @@global.max_connections"),
		}},
		{"sql.execute", actiontest.Subject{
			Action: find(action.Generic(), "sql.execute"),
			With: `{statements: ["CREATE DATABASE IF NOT EXISTS rb", "CREATE TABLE IF NOT EXISTS rb.t (a INT)"], repeatable: true, want: "1",
				check: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'rb'", undo: [DROP DATABASE IF EXISTS rb]}`,
			Snapshot: values(site, "n1", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'rb'"),
		}},
		{"server.restart", actiontest.Subject{
			Action: find(action.Servers(), "server.restart"), With: `{node: n2}`, Always: true, Snapshot: running(site, "n2"), Cuts: cuts,
		}},
		{"server.stop", actiontest.Subject{Action: find(action.Servers(), "server.stop"), With: `{node: n2}`, Snapshot: running(site, "n2"), Cuts: cuts}},
		{"server.kill", actiontest.Subject{Action: find(action.Servers(), "server.kill"), With: `{node: n2}`, Snapshot: running(site, "n2"), Cuts: cuts[:1]}},
		{"server.freeze", actiontest.Subject{Action: find(action.Servers(), "server.freeze"), With: `{node: n2}`, Snapshot: running(site, "n2"), Cuts: cuts[:1]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Site = site
			actiontest.Run(t, c.s)
		})
	}
	t.Run("server.start", func(t *testing.T) {
		n, err := site.Node(t.Context(), "n2")
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Server.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		actiontest.Run(t, actiontest.Subject{
			Action: find(action.Servers(), "server.start"), Site: site, With: `{node: n2}`, Snapshot: running(site, "n2"), Cuts: cuts,
		})
	})
}

func TestOnMariaDB(t *testing.T) {
	site := newLab(t, "mariadb", 2)
	claims(t, site)
	claimsBesideAHang(t, site)
	claimsWithoutPrimary(t, site)
	outlives(t, site)
	conform(t, site)
	refuses(t, site, `{name: max_connections, value: 80, persist: also}`, "SET PERSIST")
	refuses(t, site, `{name: max_conections, value: 80}`, "max_connections")
	refusesAct(t, site, `{name: log_bin, value: "OFF"}`, "restart")
	claimsApart(t, site)
}

func TestOnMySQL(t *testing.T) {
	site := newLab(t, "mysql", 2)
	claims(t, site)
	claimsWithoutPrimary(t, site)
	outlives(t, site)
	conform(t, site)
	for _, p := range []string{"also", "only"} {
		t.Run("persist "+p, func(t *testing.T) {
			actiontest.Run(t, actiontest.Subject{
				Action: setVariable, Site: site, With: `{name: innodb_log_buffer_size, value: 32M, persist: ` + p + `}`,
				Snapshot: values(site, "", "SELECT @@global.innodb_log_buffer_size",
					"SELECT variable_value FROM performance_schema.persisted_variables WHERE variable_name = 'innodb_log_buffer_size'"),
			})
		})
	}
}

func bind(t *testing.T, with string) action.Task {
	t.Helper()
	n, err := document.Parse("with", []byte(with))
	if err != nil {
		t.Fatal(err)
	}
	task, err := setVariable.Bind(n)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// refuses expects that a check ends with an error that names something.
func refuses(t *testing.T, site *action.Site, with, want string) {
	t.Helper()
	if _, err := bind(t, with).Check(t.Context(), site.ReadOnly()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("check of %s: %v, want %q", with, err, want)
	}
}

func refusesAct(t *testing.T, site *action.Site, with, want string) {
	t.Helper()
	task := bind(t, with)
	f, err := task.Check(t.Context(), site.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	if f.State == action.Satisfied {
		t.Fatalf("%s is satisfied", with)
	}
	if _, err := task.Act(t.Context(), site, action.Call{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("act of %s: %v, want %q", with, err, want)
	}
}
