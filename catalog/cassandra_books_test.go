package catalog

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// booksOn runs shipped runbooks on a real ring, from the plan to the end: what looks after one, what stops a node and is taken
// back, and what restarts all.
func booksOn(t *testing.T, ring labtest.Server) {
	machine, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := &execute.Service{
		Store: store, Actions: Actions(), User: "test", Holder: "test", ClusterLock: ClusterLock,
		TTL: 9 * time.Second, // the claim is prolonged in the middle of every step, also in that which brings the quorum back
		Open: func(context.Context, string) (*cluster.Cluster, error) {
			return lab.AsCluster(ring.Cluster, ring.Engine, machine), nil
		},
	}
	kept := ring.Target.Namespace
	away := kept + ",owned" // of both, and of asksTheOwner, no quorum is left on one of two nodes
	for _, c := range []struct {
		book   string
		inputs map[string]string
		fails  bool
		undo   bool
	}{
		{book: "cql/cleanup"},
		{book: "cql/repair", inputs: map[string]string{"keyspace": kept}},
		{book: "cql/drain", inputs: map[string]string{"node": "n2", "accept_unavailable": away}, undo: true},
		{book: "cql/drain", inputs: map[string]string{"node": "n2", "accept_unavailable": away}},
		{book: "cql/start-node", inputs: map[string]string{"node": "n2"}},
		// Cassandra wants two at least, which no setting shows: its first node does not start, until the setting is taken back.
		{book: "cql/rolling-config", inputs: map[string]string{"name": "concurrent_reads", "value": "1", "accept_unavailable": away}, fails: true, undo: true},
		{book: "cql/rolling-config", inputs: map[string]string{"name": "concurrent_reads", "value": "17", "accept_unavailable": away}},
	} {
		t.Run(c.book, func(t *testing.T) {
			want := journal.RunDone
			if c.fails {
				want = journal.RunFailed
			}
			runBook(t, s, execute.Request{Cluster: ring.Cluster.Name(), Inputs: c.inputs}, c.book, want, c.undo)
		})
	}
	strangerIsNotStarted(t, s, ring)
	for _, n := range ring.Cluster.Nodes() {
		on := lab.AsCluster(ring.Cluster, ring.Engine, machine)
		db, err := on.Database(t.Context(), n.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := db.(engine.Configurable).Setting(t.Context(), "concurrent_reads"); err != nil || got != "17" {
			t.Errorf("after the runbook %s has concurrent_reads %s, %v", n.Name, got, err)
		}
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}
}

// strangerIsNotStarted plans to start a node that is no member: it would join.
func strangerIsNotStarted(t *testing.T, s *execute.Service, ring labtest.Server) {
	t.Helper()
	name, err := ring.Cluster.Growth().Grow(t.Context(), "stranger", nil)
	if err != nil {
		t.Fatal(err)
	}
	book, err := books.Read("cql/start-node", s.Actions)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Prepare(t.Context(), execute.Request{Book: book, Cluster: ring.Cluster.Name(), Inputs: map[string]string{"node": name}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Header.Plan.Trouble(); err == nil || !strings.Contains(err.Error(), "node "+name+" is not a member of the ring") {
		t.Errorf("the plan to start %s: %v", name, err)
	}
	if err := ring.Cluster.Growth().Remove(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// runBook plans a runbook, runs it to its end, and takes it back if it is to be.
func runBook(t *testing.T, s *execute.Service, q execute.Request, name string, want journal.Outcome, undo bool) {
	t.Helper()
	ctx := t.Context()
	var err error
	if q.Book, err = books.Read(name, s.Actions); err != nil {
		t.Fatal(err)
	}
	p, err := s.Prepare(ctx, q)
	if err == nil {
		err = p.Header.Plan.Trouble()
	}
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Begin(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Execute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}()
	ends := func(o journal.Command, want journal.Outcome) {
		t.Helper()
		if err := s.Start(ctx, x, run, o); err != nil {
			t.Fatal(err)
		}
		if err := x.Wait(ctx, run); err != nil {
			t.Fatal(err)
		}
		st, err := s.State(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		if st.Outcome != want {
			for _, i := range st.Items {
				t.Logf("%s: %s %s", i.Key, i.Phase, i.Error)
			}
			t.Fatalf("%s: %s %s, want %s", name, st.Status(), st.Why, want)
		}
	}
	ends(journal.Command{Do: "run"}, want)
	if undo {
		ends(journal.Command{Do: "cancel", Undo: true}, journal.RunUndone)
	}
}
