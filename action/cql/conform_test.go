package cql_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/action/cql"
	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// Every action for rings goes through the suite, on a ring of two and a third that joins, is looked after and leaves.
func TestActionsConform(t *testing.T) {
	inLab := labtest.Cluster(t, lab.Spec{Name: "conform", Product: "cassandra", Nodes: 2, Config: map[string]string{
		"cassandra.batchlog.replay_timeout_in_ms": "1000", // for which a node that leaves waits
	}})
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	site := lab.AsCluster(inLab, enginecql.Engine{}, machine)
	t.Cleanup(func() { _ = site.Close() }) // before the servers end
	c := conforming{world{t, inLab, site}, "", map[string]bool{}}
	if c.node, err = inLab.Growth().Grow(t.Context(), "third", map[string]string{"concurrent_reads": "15"}); err != nil {
		t.Fatal(err)
	}
	c.write()

	on := "node: " + c.node
	c.conform("cql.join", actiontest.Subject{With: on, Snapshot: c.everything, Cuts: []time.Duration{8 * time.Second}})
	join := c.task("cql.join", on)
	c.does(join)
	c.conform("cql.cleanup", actiontest.Subject{With: "node: n1", Always: true, Snapshot: c.everything, Cuts: []time.Duration{2 * time.Second}})
	c.conform("cql.repair", actiontest.Subject{With: on + "\nkeyspace: kept", Always: true, Snapshot: c.everything, Cuts: []time.Duration{2 * time.Second}})
	c.conform("cql.configure", actiontest.Subject{With: on + "\nname: concurrent_reads\nvalue: \"17\"", Snapshot: c.server})
	c.conform("cql.drain", actiontest.Subject{With: on + "\naccept_unavailable: kept", Snapshot: c.serving, Cuts: []time.Duration{2 * time.Second}})
	c.conform("cql.may-return", actiontest.Subject{With: on, Always: true, Snapshot: c.server})
	c.waits()

	c.conform("cql.decommission", actiontest.Subject{With: on, Snapshot: c.everything, Cuts: []time.Duration{4 * time.Second}, Again: func(t *testing.T) {
		t.Helper()
		if err := inLab.Growth().Reset(t.Context(), c.node); err != nil {
			t.Fatal(err)
		}
		world{t, c.cluster, c.site}.does(join)
	}})
	for _, a := range cql.Actions() {
		if !c.done[a.Name] {
			t.Errorf("%s did not go through the suite", a.Name)
		}
	}
}

// conforming is a ring on which actions go through the suite.
type conforming struct {
	world
	node string // the third
	done map[string]bool
}

func (c conforming) conform(name string, s actiontest.Subject) {
	c.Helper()
	a, known := action.Find(cql.Actions(), name)
	if !known {
		c.Fatalf("no action %s", name)
	}
	s.Action, s.Site, c.done[name] = a, c.site, true
	c.Run(name, func(t *testing.T) { actiontest.Run(t, s) })
}

// rows is how many are written before the third node is there.
const rows = 100

// write writes rows on two nodes, and has every keyspace on two: the third may leave.
func (c conforming) write() {
	c.Helper()
	const twice = "replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}"
	session := c.asks("n1", "ALL")
	defer session.Close()
	for _, keyspace := range []string{"system_auth", "system_distributed", "system_traces"} {
		c.says(session, "ALTER KEYSPACE "+keyspace+" WITH "+twice)
	}
	c.says(session, "CREATE KEYSPACE kept WITH "+twice, "CREATE TABLE kept.t (id int PRIMARY KEY, v text)")
	for i := range rows {
		c.says(session, fmt.Sprintf("INSERT INTO kept.t (id, v) VALUES (%d, 'row %d')", i, i))
	}
	c.wait()
}

// wait waits until the ring is whole.
func (c conforming) wait() {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 5*time.Minute)
	defer cancel()
	if _, err := c.task("cql.wait-whole", "{}").Act(ctx, c.site, call(action.CheckResult{})); err != nil {
		c.Fatal(err)
	}
}

// everything describes the ring as its first node has it, the rows in it, and the third node's server.
func (c conforming) everything(t *testing.T) string {
	t.Helper()
	w := world{t, c.cluster, c.site}
	db, err := c.site.Database(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	ring, err := db.(engine.Ringed).Ring(t.Context(), w.host("n1")+":9042")
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, m := range ring.Members {
		text = append(text, fmt.Sprint(m.Address, " ", m.Part, " ", m.Host))
	}
	session := w.asks("n1", "ALL")
	defer session.Close()
	r := engine.Result{Keep: true}
	if err := session.Exec(t.Context(), "SELECT count(*) FROM kept.t", &r); err != nil {
		t.Fatal(err)
	}
	text = append(text, fmt.Sprintf("%d rows", r.At(0, 0).Int), c.server(t))
	return strings.Join(text, "\n")
}

// server describes the third node's server: whether it runs, its settings, and whether it has data.
func (c conforming) server(t *testing.T) string {
	t.Helper()
	n, err := c.site.Node(t.Context(), c.node)
	if err != nil {
		t.Fatal(err)
	}
	running, err := n.Server.Running(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := c.cluster.Server(c.node).Assigned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%s runs: %v, with", c.node, running)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		text += " " + name + "=" + own[name]
	}
	data, err := os.ReadDir(n.Data)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s; it has data: %v", text, len(data) > 0)
}

// serving describes whether the third node's server takes requests.
func (c conforming) serving(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%s, serves: %v", c.server(t), c.site.Answers(t.Context(), c.node) == nil)
}

// waits has the third node say that it goes, and no more, and come back while it is waited for.
func (c conforming) waits() {
	n, err := c.site.Node(c.Context(), c.node)
	if err != nil {
		c.Fatal(err)
	}
	whole := c.task("cql.wait-whole", "{}")
	goes := func(t *testing.T) {
		t.Helper()
		c.nodetool(n, "disablegossip")
		world{t, c.cluster, c.site}.until("it is missed", func() bool {
			f, err := whole.Check(t.Context(), c.site)
			return err == nil && f.State == action.Needed
		})
	}
	comes := func(ctx context.Context) error {
		order, err := n.Tool("enablegossip")
		if err == nil {
			_, err = n.Machine.Run(ctx, order)
		}
		return err
	}
	for name, with := range map[string]string{"cql.wait-whole": "{}", "cql.wait-returned": "node: " + c.node} {
		goes(c.T)
		c.conform(name, actiontest.Subject{With: with, Snapshot: c.server, Cuts: []time.Duration{time.Second}, Again: goes, Meanwhile: comes})
		if err := comes(c.Context()); err != nil {
			c.Fatal(err)
		}
		c.wait()
	}
}
