package catalog

import (
	"context"
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// missed is how many rows are written while a node is away.
const missed = 400

// TestSoakRepairsOfARing has runbooks repair what no hint delivers: the ring keeps none. A node that was drained has every row again when
// cql/start-node is done, and a node that replaces a dead one has every row that was
// acknowledged, though a third of them were on one other replica alone.
func TestSoakRepairsOfARing(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes some minutes: make soak")
	}
	ring := labtest.Cluster(t, lab.Spec{Name: "repaired", Product: "cassandra", Nodes: 3, Config: map[string]string{
		"hinted_handoff_enabled": "false",
		"dynamic_snitch":         "false", // so that a node that is asked for one copy reads its own
	}})
	machine, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	open := func(context.Context, string) (*cluster.Cluster, error) {
		on := lab.AsCluster(ring, enginecql.Engine{}, machine)
		LookAtReturns(on)
		return on, nil
	}
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	s := &execute.Service{Store: store, Actions: Actions(), User: "test", Holder: "test", ClusterLock: ClusterLock, Open: open}
	w := repaired{t: t, ring: ring}
	w.says("n1", "QUORUM", "CREATE KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
		"CREATE TABLE kept.t (k int PRIMARY KEY)", "CREATE KEYSPACE IF NOT EXISTS plimsoll WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
	run := func(book string, inputs map[string]string) {
		t.Helper()
		runBook(t, s, execute.Request{Cluster: ring.Name(), Inputs: inputs}, book, journal.RunDone, false)
	}

	run("cql/drain", map[string]string{"node": "n2"})
	w.writes("n1", 0)
	if got := w.has("n1"); got != missed {
		t.Fatalf("n1 has %d rows of %d", got, missed)
	}
	run("cql/start-node", map[string]string{"node": "n2"})
	if got := w.has("n2"); got != missed {
		t.Errorf("after cql/start-node n2 has %d rows of %d", got, missed)
	}

	// n3 misses the next rows, and comes back by hand, so that they are on n1 and n2 alone; then n1 dies.
	if err := ring.Stop(t.Context(), "n3"); err != nil {
		t.Fatal(err)
	}
	w.seenDown("n3")
	w.writes("n1", missed)
	if err := ring.Start(t.Context(), "n3"); err != nil {
		t.Fatal(err)
	}
	if got := w.has("n3"); got != missed {
		t.Fatalf("n3, which nobody has repaired, has %d rows, not %d: the test would show nothing", got, missed)
	}
	if err := ring.Server("n1").Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.seenDown("n1")
	run("cql/replace-node", map[string]string{"dead": "n1"})
	for _, n := range ring.Nodes() {
		if n.Name != "n2" && n.Name != "n3" {
			if got := w.has(n.Name); got != 2*missed {
				t.Errorf("%s, in the place of n1, has %d rows of %d", n.Name, got, 2*missed)
			}
		}
	}
}

// repaired asks single nodes of a ring.
type repaired struct {
	t    *testing.T
	ring *lab.Cluster
}

// asks has a session with one node alone.
func (w repaired) asks(node, consistency string, do func(engine.Session) error) {
	w.t.Helper()
	on := lab.AsCluster(w.ring, enginecql.Engine{}, nil)
	defer func() { _ = on.Close() }()
	n, err := on.Node(w.t.Context(), node)
	if err != nil {
		w.t.Fatal(err)
	}
	target := n.Target
	target.Options = maps.Clone(target.Options)
	if target.Options == nil {
		target.Options = map[string]string{}
	}
	target.Options["consistency"], target.Options["discover"] = consistency, "off"
	db, err := enginecql.Engine{}.Open(w.t.Context(), target)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	session, err := db.Session(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	if err := do(session); err != nil {
		w.t.Fatal(err)
	}
}

func (w repaired) says(node, consistency string, statements ...string) {
	w.t.Helper()
	w.asks(node, consistency, func(session engine.Session) error {
		for _, text := range statements {
			if err := session.Exec(w.t.Context(), text, nil); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	})
}

// writes has as many rows as a node is to miss acknowledged by two replicas, from a number on.
func (w repaired) writes(node string, from int) {
	w.t.Helper()
	var all []string
	for k := range missed {
		all = append(all, fmt.Sprintf("INSERT INTO kept.t (k) VALUES (%d)", from+k))
	}
	w.says(node, "QUORUM", all...)
}

// has counts the rows that a node has itself.
func (w repaired) has(node string) (rows int) {
	w.t.Helper()
	w.asks(node, "ONE", func(session engine.Session) error {
		r := engine.Result{Keep: true}
		err := session.Exec(w.t.Context(), "SELECT count(*) FROM kept.t", &r)
		if err == nil {
			rows = int(r.At(0, 0).Int)
		}
		return err
	})
	return rows
}

// seenDown waits until n2 sees a node as down.
func (w repaired) seenDown(node string) {
	w.t.Helper()
	limited, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	on := lab.AsCluster(w.ring, enginecql.Engine{}, nil)
	defer func() { _ = on.Close() }()
	err := poll.Until(limited, time.Second, func() (string, error) {
		n, err := on.Node(limited, node)
		if err != nil {
			return "", err
		}
		asked, err := on.Node(limited, "n2")
		if err != nil {
			return "", err
		}
		db, err := on.Database(limited, asked.Name)
		if err != nil {
			return "", err
		}
		r, err := db.(engine.Ringed).Ring(limited, asked.Target.Addresses[0])
		if err != nil {
			return err.Error(), nil //nolint:nilerr // it is asked again
		}
		for _, m := range r.Members {
			if m.Address == n.Target.Addresses[0] && !m.Up {
				return "", nil
			}
		}
		return node + " is seen as up", nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
