package singlestore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/action/singlestore"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginesinglestore "plimsoll/engine/singlestore"
	"plimsoll/engine/singlestore/singlestoretest"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/internal/document"
)

// No SingleStore can be had here. These tests act on a stand-in for the server and for sdb-admin, which answer as SingleStore's
// documentation prints it: they show what the actions do on such answers, not that a SingleStore gives them.

const (
	newLeaf = "10.0.0.9:3306"
	pace    = 5 * time.Millisecond
)

// reached is a cluster as the inventory's would be reached; sdb-admin is no process of its own.
func reached(t *testing.T, c *singlestoretest.Cluster) *cluster.Cluster {
	t.Helper()
	return siteOn(t, c, c.Machine(here(t)))
}

func here(t *testing.T) infra.Machine {
	t.Helper()
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func siteOn(t *testing.T, c *singlestoretest.Cluster, machine infra.Machine) *cluster.Cluster {
	t.Helper()
	e := enginesinglestore.Engine{}
	master := cluster.Node{Name: "master", Target: c.Target(), Machine: machine, Tool: func(args ...string) (infra.Command, error) {
		return e.Tool(c.Target(), args...), nil
	}}
	on := &cluster.Cluster{
		Name: "stand-in", Environment: "lab", Engine: e, Local: machine,
		List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{master}, nil },
	}
	t.Cleanup(func() { _ = on.Close() })
	return on
}

func find(t *testing.T, name string) action.Action {
	t.Helper()
	return actiontest.Find(t, singlestore.Actions(), name)
}

func bind(t *testing.T, name, with string) action.Task {
	t.Helper()
	return actiontest.Task(t, singlestore.Actions(), name, with)
}

// act does what is needed. shown is called with what progress says, when that is known.
func act(t *testing.T, on *cluster.Cluster, name, with string, shown ...func(string)) {
	t.Helper()
	task := bind(t, name, with)
	f, err := task.Check(t.Context(), on.ReadOnly())
	if err != nil || f.State != action.Needed {
		t.Fatalf("%s: found %+v, %v", name, f, err)
	}
	call := call(f)
	call.Progress = func(share float64, text string) {
		if share >= 0 {
			for _, show := range shown {
				show(text)
			}
		}
	}
	if _, err := task.Act(t.Context(), on, call); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if f, err := task.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Fatalf("%s: afterwards %+v, %v", name, f, err)
	}
}

func call(f action.CheckResult) action.Call {
	return action.Call{Run: "r", Step: "s", Attempt: 1, Token: "t", Since: time.Now(), Before: f.Observed, Progress: func(float64, string) {}}
}

// refuses checks and expects a refusal with a reason and advice.
func refuses(t *testing.T, on *cluster.Cluster, name, with, reason string) {
	t.Helper()
	f, err := bind(t, name, with).Check(t.Context(), on.ReadOnly())
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, reason) || refusal.Advice == "" {
		t.Errorf("%s: found %+v, %v; want a refusal: %s", name, f, err, reason)
	}
}

func TestActionsConform(t *testing.T) {
	leaf := "leaf: " + newLeaf
	for _, c := range []struct {
		name, with string
		before     []string // what is done to the cluster first
		again      bool
	}{
		{name: "singlestore.create-node", with: leaf},
		{name: "singlestore.add-leaf", with: leaf, before: []string{"singlestore.create-node"}},
		{name: "singlestore.rebalance", with: "database: db", before: []string{"singlestore.create-node", "singlestore.add-leaf"}, again: true},
		{name: "singlestore.remove-leaf", with: "leaf: " + singlestoretest.Leaf(1), again: true},
		{name: "singlestore.delete-node", with: leaf, before: []string{"singlestore.create-node"}, again: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 2, Partitions: 6, Pace: pace})
			on := reached(t, cluster)
			prepare := func(t *testing.T) {
				for _, name := range c.before {
					act(t, on, name, leaf)
				}
			}
			prepare(t)
			s := actiontest.Subject{
				Action: find(t, c.name), With: c.with, Cluster: on,
				Snapshot: func(*testing.T) string { return cluster.String() },
			}
			if c.again {
				s.Again = func(t *testing.T) {
					cluster.Reset(t)
					prepare(t)
				}
			}
			actiontest.Run(t, s)
		})
	}
}

func TestWaitWholeConforms(t *testing.T) {
	cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 2, Copies: 2, Partitions: 4})
	leaf := singlestoretest.Leaf(3)
	goes := func(*testing.T) { cluster.SetLeaf(leaf, "offline") }
	comes := func(context.Context) error {
		cluster.SetLeaf(leaf, "online")
		return nil
	}
	goes(t)
	actiontest.Run(t, actiontest.Subject{
		Action: find(t, "singlestore.wait-whole"), With: "{}", Cluster: reached(t, cluster),
		Snapshot: func(*testing.T) string { return cluster.String() }, Again: goes, Meanwhile: comes,
	})
}

// It waits for a leaf that comes back.
func TestWaitWhole(t *testing.T) {
	cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 2, Copies: 2, Partitions: 4})
	leaf := singlestoretest.Leaf(3)
	cluster.SetLeaf(leaf, "offline")
	on := reached(t, cluster)
	task := bind(t, "singlestore.wait-whole", "{}")
	f, err := task.Check(t.Context(), on.ReadOnly())
	if err != nil || f.State != action.Needed || !strings.Contains(f.Reason, leaf+" is offline") {
		t.Fatalf("%+v, %v", f, err)
	}
	c := call(f)
	c.Progress = func(float64, string) { cluster.SetLeaf(leaf, "online") } // as soon as it waits
	if _, err := task.Act(t.Context(), on, c); err != nil {
		t.Fatal(err)
	}
	if f, err := task.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("%+v, %v", f, err)
	}
	cluster.SetPartition("db", 0, true)
	ended, cancel := context.WithCancel(t.Context())
	c.Progress = func(float64, string) { cancel() }
	if _, err := task.Act(ended, on, c); err == nil || !strings.Contains(err.Error(), "fewer than 2 copies online of db:0") {
		t.Errorf("what did not come: %v", err)
	}
}

// A leaf comes and goes, by a program in the place of sdb-admin: partitions move onto it and off it, none is lost, and progress names what moves.
func TestALeafComesAndGoes(t *testing.T) {
	cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 2, Partitions: 6, Databases: []string{"db", "other"}, Pace: pace})
	on := siteOn(t, cluster, here(t))
	cluster.OnPath(t)
	before := cluster.String()
	leaf := "leaf: " + newLeaf
	act(t, on, "singlestore.create-node", leaf)
	act(t, on, "singlestore.add-leaf", leaf)
	release, progress := cluster.Hold(t), ""
	act(t, on, "singlestore.rebalance", "{}", func(text string) {
		if progress == "" {
			progress = text
			release()
		}
	})
	if progress != "copy 0 of 2, promote 0 of 2, 3s left by the server's estimate" {
		t.Errorf("progress: %q", progress)
	}
	layout := layoutOf(t, on)
	held := map[string]int{}
	for _, p := range layout.Partitions {
		held[p.Leaf]++
	}
	if held[newLeaf] != 4 || len(layout.Partitions) != 12 {
		t.Errorf("partitions by leaf: %v", held)
	}
	act(t, on, "singlestore.remove-leaf", leaf)
	act(t, on, "singlestore.delete-node", leaf)
	if len(layoutOf(t, on).Partitions) != 12 || strings.Count(cluster.String(), "leaf ") != strings.Count(before, "leaf ") {
		t.Errorf("afterwards\n%s\nbefore\n%s", cluster, before)
	}

	calls, secrets := cluster.Calls()
	for i, words := range calls {
		if strings.Contains(words, singlestoretest.Password) {
			t.Errorf("the password stands among the arguments: %s", words)
		}
		if secrets[i] != singlestoretest.Password {
			t.Errorf("sdb-admin %s found no password in its environment", words)
		}
	}
	if !slices.Contains(calls, "create-node --yes --host 10.0.0.9 --port 3306") || !slices.Contains(calls, "remove-leaf --yes --host 10.0.0.9 --port 3306") {
		t.Errorf("sdb-admin was called with %q", calls)
	}
}

func layoutOf(t *testing.T, on *cluster.Cluster) engine.Layout {
	t.Helper()
	db, err := on.Database(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	layout, err := db.(engine.Sharded).Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return layout
}

func TestWhatWouldLoseDataIsRefused(t *testing.T) {
	cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 2, Copies: 2, Partitions: 4})
	on := reached(t, cluster)
	first, third := "leaf: "+singlestoretest.Leaf(1), singlestoretest.Leaf(3)

	cluster.SetLeaf(third, "offline")
	refuses(t, on, "singlestore.add-leaf", "leaf: "+newLeaf, third+" is offline")
	refuses(t, on, "singlestore.remove-leaf", first, third+" is offline")
	refuses(t, on, "singlestore.remove-leaf", "leaf: "+third, "cannot move its data")
	refuses(t, on, "singlestore.add-leaf", "leaf: "+newLeaf+"\ngroup: 2", "offline")
	cluster.SetLeaf(third, "online")

	cluster.SetPartition("db", 1, true)
	refuses(t, on, "singlestore.remove-leaf", first, "no copy is online of db:1")
	cluster.SetPartition("db", 1, false)

	if f, err := bind(t, "singlestore.remove-leaf", first).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Needed {
		t.Errorf("with nothing amiss: %+v, %v", f, err)
	}
	doomed := bind(t, "singlestore.delete-node", first)
	var refusal *hint.PermanentError
	if _, err := doomed.Act(t.Context(), on, call(action.CheckResult{})); !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "part of the cluster") {
		t.Errorf("a leaf is deleted: %v", err)
	}
}

// The last leaf of an availability group stays, and a leaf's pair is spoken of.
func TestRedundancyIsKept(t *testing.T) {
	cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 1, Copies: 2, Paired: true, Partitions: 2})
	on := reached(t, cluster)
	refuses(t, on, "singlestore.remove-leaf", "leaf: "+singlestoretest.Leaf(1), "last leaf of availability group 1")

	act(t, on, "singlestore.create-node", "leaf: "+newLeaf)
	act(t, on, "singlestore.add-leaf", "leaf: "+newLeaf)
	refuses(t, on, "singlestore.rebalance", "{}", "these have no partner: "+newLeaf)

	task := bind(t, "singlestore.remove-leaf", "leaf: "+singlestoretest.Leaf(1))
	f, err := task.Check(t.Context(), on.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	if caution := task.(action.ApprovalDemander).ApprovalReason(f); !strings.Contains(caution, singlestoretest.Leaf(2)) {
		t.Errorf("caution: %q", caution)
	}
}

// Of two rebalances the second is refused; one that was cut off is waited for, and one that failed says at which move.
func TestRebalancesMeet(t *testing.T) {
	cluster := singlestoretest.New(t, singlestoretest.Spec{Leaves: 1, Partitions: 6, Pace: pace})
	on := reached(t, cluster)
	act(t, on, "singlestore.create-node", "leaf: "+newLeaf)
	act(t, on, "singlestore.add-leaf", "leaf: "+newLeaf)

	task := bind(t, "singlestore.rebalance", "database: db")
	f, err := task.Check(t.Context(), on.ReadOnly())
	if err != nil || f.Observed["db"] != "3 copy, 3 promote" || !strings.Contains(f.Reason, "estimate") {
		t.Fatalf("%+v, %v", f, err)
	}
	cluster.Fail("PROMOTE PARTITION WITH DROP")
	if _, err := task.Act(t.Context(), on, call(f)); err == nil || !strings.Contains(err.Error(), "Rebalance failed") {
		t.Errorf("a rebalance that fails: %v", err)
	}

	cluster.Reset(t)
	act(t, on, "singlestore.create-node", "leaf: "+newLeaf)
	act(t, on, "singlestore.add-leaf", "leaf: "+newLeaf)
	release := cluster.Hold(t)
	ctx, cut := context.WithCancel(t.Context())
	c := call(f)
	c.Progress = func(share float64, _ string) {
		if share >= 0 {
			cut() // it is under way
		}
	}
	if _, err := task.Act(ctx, on, c); err == nil {
		t.Error("an act that was cut off succeeded")
	}
	refuses(t, on, "singlestore.add-leaf", "leaf: 10.0.0.8:3306", "another rebalance of db is under way")
	release()
	settled := task.(action.InFlightWaiter).AwaitInFlight(t.Context(), on, call(f))
	after, err := task.Check(t.Context(), on.ReadOnly())
	if settled != nil || err != nil || after.State != action.Satisfied {
		t.Errorf("settled %v, then %+v, %v", settled, after, err)
	}
}

func TestInputsAreChecked(t *testing.T) {
	for _, with := range []string{"leaf: x", "leaf: host", "leaf: ':3306'", "leaf: 'host:0'", "leaf: 'host:port'", "{}"} {
		node, err := document.Parse("with", []byte(with))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := find(t, "singlestore.create-node").Bind(node); err == nil {
			t.Errorf("%s was accepted", with)
		}
	}
}
