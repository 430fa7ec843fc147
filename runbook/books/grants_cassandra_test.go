package books_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/cql"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// TestOneListOfGrantsOnCassandra plans a cleanup by an account that has nothing, and runs it by one with what the plan named, and no more.
func TestOneListOfGrantsOnCassandra(t *testing.T) {
	t.Parallel()
	ring := labtest.Cluster(t, lab.Spec{Name: clusterName, Product: "cassandra", Nodes: 1, Config: map[string]string{
		"permissions_validity": "0ms", "permissions_update_interval": "0ms", "permissions_cache_active_update": "false", // what is granted holds at once
	}})
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	admin := lab.AsCluster(ring, enginecql.Engine{}, machine)
	t.Cleanup(func() { _ = admin.Close() })
	tell := func(text string) {
		t.Helper()
		if err := admin.Use(t.Context(), "n1", func(s engine.Session) error { return s.Exec(t.Context(), text, nil) }); err != nil {
			t.Fatal(text, err)
		}
	}
	tell("CREATE ROLE changer WITH LOGIN = true AND PASSWORD = 'x-changer'")
	asChanger := func(context.Context, string) (*cluster.Cluster, error) {
		on := lab.AsCluster(ring, enginecql.Engine{}, machine)
		all := on.List
		on.List = func(ctx context.Context) ([]cluster.Node, error) {
			nodes, err := all(ctx)
			for i := range nodes {
				nodes[i].Target.User, nodes[i].Target.Password = "changer", "x-changer"
			}
			return nodes, err
		}
		return on, nil
	}
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	s := &execute.Service{
		Store: store, Actions: slices.Concat(action.Generic(), action.Servers(), cql.Actions()), User: "test", Holder: "test",
		Open:        asChanger,
		ClusterLock: func(on *cluster.Cluster) lock.ClusterLock { return cql.ClusterLock{Cluster: on} },
	}
	book, err := books.Read("cql/cleanup", s.Actions)
	if err != nil {
		t.Fatal(err)
	}
	lacks := lacksOf(t, s, []string{book.Name})
	var grants []string
	for _, l := range lacks {
		grants = append(grants, strings.Split(l.Grant, "; ")...)
	}
	for _, want := range []string{`GRANT CREATE ON ALL KEYSPACES TO "changer"`, `GRANT SELECT ON TABLE system_views.gossip_info TO "changer"`} {
		if !slices.Contains(grants, want) {
			t.Errorf("%q is not among %q", want, grants)
		}
	}
	for _, grant := range grants {
		tell(grant)
	}
	if again := lacksOf(t, s, []string{book.Name}); len(again) > 0 {
		t.Fatalf("after the grants it still lacks %v", again)
	}
	x, err := s.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close(context.Background()) }()
	run, err := begin(t.Context(), s, book.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), x, run, journal.Command{Do: "run"}); err != nil {
		t.Fatal(err)
	}
	if err := x.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if st, err := s.State(t.Context(), run); err != nil || st.Outcome != journal.RunDone {
		t.Errorf("by an account with these grants alone: %v %s", err, errorsOf(st))
	}
}
