package cql_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/action/cql"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
	"plimsoll/hint"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// fixture is a real ring.
type fixture struct {
	*testing.T
	cluster *lab.Cluster
	on      *cluster.Cluster
}

// task binds an action to inputs.
func (w fixture) task(name, with string) action.Task {
	w.Helper()
	return actiontest.Task(w, cql.Actions(), name, with)
}

// finds checks and expects a state.
func (w fixture) finds(task action.Task, want action.State) action.CheckResult {
	w.Helper()
	reading := w.on.ReadOnly()
	defer func() { _ = reading.Close() }()
	f, err := task.Check(w.Context(), reading)
	if err != nil {
		w.Fatalf("check: %v", err)
	}
	if f.State != want {
		w.Fatalf("found %+v, want %s", f, want)
	}
	return f
}

// refuses checks and expects a refusal with a reason.
func (w fixture) refuses(task action.Task, reason string) {
	w.Helper()
	f, err := task.Check(w.Context(), w.on.ReadOnly())
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, reason) {
		w.Errorf("found %+v, %v; want a refusal: %s", f, err, reason)
	}
	if refusal != nil && refusal.Advice == "" {
		w.Errorf("%s: without advice", refusal.Reason)
	}
}

// does acts where it is needed, and expects that nothing is left to do.
// does expects that an action is needed, that it is done after its act, and returns what it told on the way.
func (w fixture) does(task action.Task) (told []string) {
	w.Helper()
	c := call(w.finds(task, action.Needed))
	c.Progress = func(share float64, text string) { told = append(told, fmt.Sprintf("%.2f %s", share, text)) }
	output, err := task.Act(w.Context(), w.on, c)
	if err != nil {
		w.Fatalf("act: %v", err)
	}
	if v, ok := task.(action.Verifier); ok {
		if err := v.Verify(w.Context(), w.on.ReadOnly(), output); err != nil {
			w.Fatalf("verify: %v", err)
		}
		return told
	}
	w.finds(task, action.Satisfied)
	return told
}

func call(f action.CheckResult) action.Call {
	return action.Call{Run: "r", Step: "s", Attempt: 1, Token: "t", Epoch: 1, Since: time.Now(), Before: f.Observed, Progress: func(float64, string) {}}
}

// A ring of three is claimed, and gets a new node in the place of one that died. What would lose data is refused, and no copy of a row is lost.
// Every action for rings goes through the conformance suite on it: a ring that only waits costs as much as one that is worked on, and each start
// of a node some seconds of a processor. make soak has it grow and shrink before, through troubles.
func TestOnARealRing(t *testing.T) {
	t.Parallel()
	inLab := labtest.Cluster(t, lab.Spec{Name: "ring", Product: "cassandra", Nodes: 3, Config: map[string]string{
		"cassandra.schema_pull_interval_ms":       "3600000", // so that a node that missed a change of the schema is met
		"cassandra.batchlog.replay_timeout_in_ms": "1000",    // for which a node that leaves waits
		"dynamic_snitch":                          "false",   // so that a node that is slow for a moment reads its own rows all the same, and not another's
	}})
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	w := fixture{t, inLab, lab.AsCluster(inLab, enginecql.Engine{}, machine)}
	ctx := t.Context()

	w.twoNames()
	w.claims()
	w.claimsWithoutQuorum()
	w.claimsFirst()
	w.keeps()
	w.finds(w.task("cql.wait-whole", "{}"), action.Satisfied)
	w.mistakes("n1", "n2")
	w.refuses(w.task("cql.decommission", "node: n2"), "keyspace system_auth keeps 3 replicas in dc1, and 2 nodes would be left")
	stray, err := inLab.Growth().Grow(ctx, "stray", map[string]string{"dc": "dc2"})
	if err != nil {
		t.Fatal(err)
	}
	w.refuses(w.task("cql.join", "node: "+stray), "is in data centre dc2, which has no other member")
	for name, with := range map[string]string{"cql.wait-whole": "{}", "cql.drain": "node: " + stray, "cql.cleanup": "node: " + stray} {
		w.refuses(w.task(name, with), "node "+stray+" is not a member of the ring")
	}
	w.mayGo(stray, "")
	w.mayGo("n2", "n2 is still a member of the ring (UN")
	if err := inLab.Growth().Remove(ctx, stray); err != nil {
		t.Fatal(err)
	}

	if os.Getenv("PLIMSOLL_SOAK") != "" { // eight minutes more
		w.growsAndShrinks()
	}

	conformed := map[string]bool{}
	w.joinConforms(conformed)

	w.refuses(w.task("cql.wait-whole", "{but: n3, alone: true}"), "n3 is not dead: the ring sees it as "+w.host("n3")+" (UN)")
	if err := w.on.Execute(ctx, "n1", []string{"CREATE KEYSPACE lonely WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}"}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if err := inLab.Server("n3").Kill(ctx); err != nil {
		t.Fatal(err)
	}
	const lost = "n3 had the only replica of a part of lonely"
	w.until("it is noticed that n3 is dead, and what would be lost with it", func() bool {
		_, err := w.task("cql.wait-whole", "{but: n3, alone: true}").Check(ctx, w.on)
		return err != nil && strings.Contains(err.Error(), lost)
	})
	heir, err := inLab.Growth().Grow(ctx, "heir", own)
	if err != nil {
		t.Fatal(err)
	}
	w.refuses(w.task("cql.join", "node: "+heir+"\nreplaces: n3"), lost)
	replaces := w.task("cql.join", "node: "+heir+"\nreplaces: n3\naccept_loss: lonely")
	w.until("n3 is seen to be dead", func() bool {
		f, err := replaces.Check(ctx, w.on)
		return err == nil && f.State == action.Needed
	})
	w.mayGo("n3", "n3 is still a member of the ring (DN")
	w.does(replaces)
	w.mayGo("n3", "")
	w.repairs(heir)

	if err := inLab.Growth().Remove(ctx, "n3"); err != nil {
		t.Fatal(err)
	}
	w.conforms(heir, conformed)
}

// growsAndShrinks adds a fourth node, which is killed while it joins; looks after the ring, through a node that hangs and misses a change of the schema, a
// seed that is down and a disk that is full; and takes n2 away.
func (w fixture) growsAndShrinks() {
	w.Helper()
	ctx, inLab := w.Context(), w.cluster
	fourth, err := inLab.Growth().Grow(ctx, "fourth", map[string]string{"cassandra.ring_delay_ms": "60000"}) // so that it is met half-way
	if err != nil {
		w.Fatal(err)
	}
	joins := w.task("cql.join", "node: "+fourth)
	disk := w.small(fourth)
	disk.refusesTo(joins)
	w.finds(joins, action.Needed)
	if err := inLab.Server(fourth).Launch(ctx); err != nil {
		w.Fatal(err)
	}
	w.until("it joins", func() bool {
		f, err := joins.Check(ctx, w.on)
		return err == nil && f.Observed["state"] == "UJ"
	})
	w.refuses(w.task("cql.decommission", "node: n2"), w.host(fourth)+" (UJ)")
	w.refuses(w.task("cql.wait-whole", "{alone: true}"), "another change of the ring is under way: "+w.host(fourth)+" (UJ)")
	w.mayGo(fourth, fourth+" is still a member of the ring (UJ")
	if err := inLab.Server(fourth).Kill(ctx); err != nil { // the act goes on with it
		w.Fatal(err)
	}
	if err := inLab.Server(fourth).Assign(ctx, nil); err != nil {
		w.Fatal(err)
	}
	w.does(joins)
	w.drops("n1")
	w.hangs("n3")
	w.disagrees("n3")

	w.does(w.task("cql.configure", "node: n1\nname: concurrent_reads\nvalue: \"17\""))
	w.refuses(w.task("cql.drain", "node: n1"), "keyspace kept would be without a quorum: 1 of its 2 replicas in dc1 would be left, and it needs 2")
	drains := w.task("cql.drain", "node: n1\naccept_unavailable: kept")
	w.does(drains)
	if err := inLab.Stop(ctx, "n1"); err != nil {
		w.Fatal(err)
	}
	w.until("n1 is seen to be down", func() bool {
		f, err := w.task("cql.wait-whole", "{}").Check(ctx, w.on)
		return err == nil && strings.Contains(f.Reason, "(DN)")
	})
	w.refuses(w.task("cql.drain", "node: n2"), "the ring is not healthy")
	w.refuses(w.task("cql.decommission", "node: n2"), w.host("n1")+": its server is not running; "+w.host("n1")+" is a seed")
	w.refuses(w.task("cql.join", "node: "+fourth+"\nreplaces: n3"), "n3 is not dead")
	disk.fills() // and is started again while its first seed is down
	if err := drains.(action.Undoer).Undo(ctx, w.on, call(action.CheckResult{})); err != nil {
		w.Fatal(err)
	}
	if _, err := w.task("cql.wait-whole", "{}").Act(ctx, w.on, call(action.CheckResult{})); err != nil {
		w.Fatal(err)
	}

	w.has("n1", "concurrent_reads", "17")

	w.does(w.task("cql.decommission", "node: n2"))
	w.mayGo("n2", "")
	if err := inLab.Growth().Remove(ctx, "n2"); err != nil {
		w.Fatal(err)
	}
}

// twoNames shows that a ring in which one server stands under two names of nodes is refused, as every plan refuses it (cluster.Distinct): its
// host id says so. Under its own names alone it is taken.
func (w fixture) twoNames() {
	w.Helper()
	if err := cluster.Distinct(w.Context(), w.on); err != nil {
		w.Errorf("three servers: %v", err)
	}
	nodes, err := w.on.List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	again := nodes[1]
	again.Name = "again"
	twice := &cluster.Cluster{Name: "ring", Engine: enginecql.Engine{}, List: func(context.Context) ([]cluster.Node, error) { return append(nodes, again), nil }}
	defer func() { _ = twice.Close() }()
	if err := cluster.Distinct(w.Context(), twice); err == nil || !strings.Contains(err.Error(), "nodes n2 and again of cluster ring are the same server: both report host ") {
		w.Errorf("one server under two names: %v", err)
	}
}

// mayGo asks whether a node's server may be removed; without a reason it may.
func (w fixture) mayGo(node, reason string) {
	w.Helper()
	err := w.on.MayGo(w.Context(), node)
	if reason == "" && err != nil || reason != "" && (err == nil || !strings.Contains(err.Error(), reason)) {
		w.Errorf("to remove %s: %v, want %q", node, err, reason)
	}
}

// host is a node's address without its port.
func (w fixture) host(node string) string {
	w.Helper()
	n, err := w.on.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	host, _, err := net.SplitHostPort(n.Target.Addresses[0])
	if err != nil {
		w.Fatal(err)
	}
	return host
}

// has expects that a node runs with a setting.
func (w fixture) has(node, name, value string) {
	w.Helper()
	db, err := w.on.Database(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	if got, err := db.(engine.Configurable).Setting(w.Context(), name); err != nil || got != value {
		w.Errorf("%s has %s %s, %v, want %s", node, name, got, err, value)
	}
}

// until waits for the others to notice something.
func (w fixture) until(what string, so func() bool) {
	w.Helper()
	limited, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limited.Done():
			w.Fatalf("never: %s", what)
		}
	}
}
