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
)

// joinConforms takes the join of a fourth node, which leaves again, through the suite.
func (w fixture) joinConforms(done map[string]bool) {
	w.Helper()
	node, err := w.cluster.Growth().Grow(w.Context(), "joining", own)
	if err != nil {
		w.Fatal(err)
	}
	c := conforming{w, node, done}
	c.conform("cql.join", actiontest.Subject{With: c.on(), Snapshot: c.everything, Cuts: []time.Duration{8 * time.Second}})
	if err := w.cluster.Growth().Remove(w.Context(), node); err != nil {
		w.Fatal(err)
	}
}

// own is a setting of a node alone, which what is done to it leaves as it is.
var own = map[string]string{"concurrent_reads": "15"}

// conforms takes every other action through the suite: a member of a ring of three leaves, joins, and is looked after.
func (w fixture) conforms(node string, done map[string]bool) {
	w.Helper()
	if err := w.cluster.Server(node).Assign(w.Context(), own); err != nil { // and nothing of whom it replaced
		w.Fatal(err)
	}
	c := conforming{w, node, done}
	c.lessens()
	c.members()
	c.upkeep()
	for _, a := range cql.Actions() {
		if !done[a.Name] {
			c.Errorf("%s did not go through the suite", a.Name)
		}
	}
}

// on is the node as an input.
func (c conforming) on() string { return "node: " + c.node }

// members has the node leave and join, and cleans up after it.
func (c conforming) members() {
	join := c.task("cql.join", c.on())
	c.conform("cql.decommission", actiontest.Subject{With: c.on(), Snapshot: c.everything, Cuts: []time.Duration{4 * time.Second}, Again: func(t *testing.T) {
		t.Helper()
		if err := c.cluster.Growth().Reset(t.Context(), c.node); err != nil {
			t.Fatal(err)
		}
		fixture{t, c.cluster, c.fixture.on}.does(join)
	}})
	c.conform("cql.cleanup", actiontest.Subject{With: "node: n1", Always: true, Snapshot: c.everything, Cuts: []time.Duration{2 * time.Second}})
}

// upkeep looks after the node.
func (c conforming) upkeep() {
	c.conform("cql.repair", actiontest.Subject{With: c.on() + "\nkeyspace: kept", Always: true, Snapshot: c.everything, Cuts: []time.Duration{2 * time.Second}})
	c.conform("cql.configure", actiontest.Subject{With: c.on() + "\nname: concurrent_reads\nvalue: \"17\"", Snapshot: c.server})
	c.conform("cql.drain", actiontest.Subject{With: c.on() + "\naccept_unavailable: kept", Snapshot: c.serving, Cuts: []time.Duration{2 * time.Second}})
	c.does(c.task("cql.drain", c.on()+"\naccept_unavailable: kept"))
	c.does(c.task("cql.start", c.on())) // a drained node runs, and does not answer
	if err := c.cluster.Stop(c.Context(), c.node); err != nil {
		c.Fatal(err)
	}
	c.conform("cql.start", actiontest.Subject{With: c.on(), Snapshot: c.server, Cuts: []time.Duration{2 * time.Second}})
	c.does(c.task("cql.start", c.on()))
	c.conform("cql.may-return", actiontest.Subject{With: c.on(), Always: true, Snapshot: c.server})
	c.conform("cql.may-retire", actiontest.Subject{With: c.on() + "\naccept_member: \"yes\"", Always: true, Snapshot: c.server})
	c.waits()
}

// conforming is a ring on which actions go through the suite.
type conforming struct {
	fixture
	node string // the one that is acted on
	done map[string]bool
}

func (c conforming) conform(name string, s actiontest.Subject) {
	c.Helper()
	a, known := action.Find(cql.Actions(), name)
	if !known {
		c.Fatalf("no action %s", name)
	}
	s.Action, s.Cluster, c.done[name] = a, c.fixture.on, true
	if !c.Run(name, func(t *testing.T) { actiontest.Run(t, s) }) {
		c.FailNow() // what comes after would start from an unknown state
	}
}

// lessens has every keyspace on two nodes: the third may leave.
func (c conforming) lessens() {
	c.Helper()
	session := c.asks("n1", "ALL")
	defer session.Close()
	c.says(session, "DROP KEYSPACE IF EXISTS lonely", "DROP KEYSPACE IF EXISTS plimsoll")
	for _, keyspace := range []string{"system_auth", "system_distributed", "system_traces", "kept"} {
		c.says(session, "ALTER KEYSPACE "+keyspace+" WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}")
	}
	c.wait()
}

// wait waits until the ring is whole.
func (w fixture) wait() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	if _, err := w.task("cql.wait-whole", "{}").Act(ctx, w.on, call(action.CheckResult{})); err != nil {
		w.Fatal(err)
	}
}

// everything describes the ring as its first node has it, the rows in it, and the node's server.
func (c conforming) everything(t *testing.T) string {
	t.Helper()
	w := fixture{t, c.cluster, c.fixture.on}
	db, err := c.fixture.on.Database(t.Context(), "n1")
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

// server describes the node's server: whether it runs, its settings, and whether it has data.
func (c conforming) server(t *testing.T) string {
	t.Helper()
	n, err := c.fixture.on.Node(t.Context(), c.node)
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

// serving describes whether the node's server takes requests.
func (c conforming) serving(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%s, serves: %v", c.server(t), c.fixture.on.Answers(t.Context(), c.node) == nil)
}

// waits has the node say that it goes, and no more, and come back while it is waited for.
func (c conforming) waits() {
	n, err := c.fixture.on.Node(c.Context(), c.node)
	if err != nil {
		c.Fatal(err)
	}
	whole := c.task("cql.wait-whole", "{}")
	goes := func(t *testing.T) {
		t.Helper()
		c.nodetool(n, "disablegossip")
		fixture{t, c.cluster, c.fixture.on}.until("it is missed", func() bool {
			f, err := whole.Check(t.Context(), c.fixture.on)
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
