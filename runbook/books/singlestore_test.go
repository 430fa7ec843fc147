package books_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"plimsoll/action/singlestore"
	"plimsoll/cluster"
	"plimsoll/durable"
	enginesinglestore "plimsoll/engine/singlestore"
	"plimsoll/engine/singlestore/singlestoretest"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// No SingleStore can be had here: these runs change a stand-in for one, which answers as SingleStore's documentation prints it.

// standIn is a service whose one cluster is a stand-in.
func standIn(t *testing.T) (*singlestoretest.Cluster, func(order journal.Command, run string) *journal.State, *execute.Service) {
	t.Helper()
	standIn := singlestoretest.New(t, singlestoretest.Spec{Leaves: 2, Partitions: 6})
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	machine, e := standIn.Machine(here), enginesinglestore.Engine{}
	store, err := durable.Open(t.Context(), durable.Options{Folder: t.TempDir(), Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	s := serviceOn(store, func(context.Context) (*cluster.Cluster, error) {
		master := cluster.Node{Name: "master", Target: standIn.Target(), Machine: machine, Tool: func(args ...string) (infra.Command, error) {
			return e.Tool(standIn.Target(), args...), nil
		}}
		return &cluster.Cluster{
			Name: clusterName, Environment: "lab", Engine: e, Local: machine,
			List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{master}, nil },
		}, nil
	})
	s.ClusterLock, s.Actions = nil, slices.Concat(s.Actions, singlestore.Actions())
	x, err := s.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return standIn, func(order journal.Command, run string) *journal.State {
		t.Helper()
		if err := s.Start(t.Context(), x, run, order); err != nil {
			t.Fatal(err)
		}
		if err := x.Wait(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		st, err := s.State(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}, s
}

func TestSingleStoreLeafComesAndGoes(t *testing.T) {
	cluster, session, s := standIn(t)
	const leaf = "leaf=10.0.0.9:3306"
	before := cluster.String()

	run, err := begin(t.Context(), s, "singlestore/add-leaf", leaf)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Fail("COPY PARTITION")
	if st := session(journal.Command{Do: "run"}, run); st.Outcome != journal.RunFailed {
		t.Fatalf("with a rebalance that fails: %q, %s", st.Outcome, st.Why)
	}
	if st := session(journal.Command{Do: "cancel", Undo: true, Reason: "it failed"}, run); st.Outcome != journal.RunUndone {
		t.Fatalf("taken back: %q, %s", st.Outcome, st.Why)
	}
	if after := cluster.String(); after != before {
		t.Errorf("taking it back left\n%s\nof\n%s", after, before)
	}

	for _, name := range []string{"singlestore/add-leaf", "singlestore/remove-leaf"} {
		if run, err = begin(t.Context(), s, name, leaf); err != nil {
			t.Fatal(err)
		}
		if st := session(journal.Command{Do: "run"}, run); st.Outcome != journal.RunDone {
			t.Fatalf("%s: %q, %s", name, st.Outcome, st.Why)
		}
		if got, want := strings.Contains(cluster.String(), "on 10.0.0.9:3306"), name == "singlestore/add-leaf"; got != want {
			t.Errorf("after %s\n%s", name, cluster)
		}
	}
	if strings.Contains(cluster.String(), "10.0.0.9") || strings.Count(cluster.String(), "copy ") != 6 {
		t.Errorf("at the end\n%s", cluster)
	}
}
