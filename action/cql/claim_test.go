package cql_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"plimsoll/action"
	"plimsoll/action/cql"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
)

// unheardOf is a server of which its machine does not tell whether it runs, or says that it does not.
type unheardOf struct {
	cluster.Server
	err error
}

func (s unheardOf) Running(context.Context) (bool, error) { return false, s.err }

// unheard are the ring as it is known where servers cannot be asked whether they run, or are said not to.
func (w fixture) unheard() map[string]*cluster.Cluster {
	all := map[string]*cluster.Cluster{}
	for what, err := range map[string]error{"cannot be asked": errors.New("there is no systemd"), "are said not to run": nil} {
		all[what] = &cluster.Cluster{Name: w.on.Name, Engine: w.on.Engine, List: func(ctx context.Context) ([]cluster.Node, error) {
			nodes, listing := w.on.List(ctx)
			for n := range nodes {
				nodes[n].Server = unheardOf{nodes[n].Server, err}
			}
			return nodes, listing
		}}
	}
	return all
}

// claimsFirst takes a ring that no run has ever claimed, by way of servers whose machines cannot tell whether they run.
func (w fixture) claimsFirst() {
	w.Helper()
	ctx, on := w.Context(), w.unheard()["cannot be asked"]
	defer func() { _ = on.Close() }()
	if err := w.on.Execute(ctx, "n1", []string{"DROP TABLE IF EXISTS plimsoll.claim"}, func(int) {}); err != nil {
		w.Fatal(err)
	}
	m, c := cql.ClusterLock{Cluster: on}, action.Claim{Cluster: "c", Run: "first", Holder: "here", Epoch: 1, For: time.Minute}
	if err := errors.Join(m.Claim(ctx, c), m.Clear(ctx, c)); err != nil {
		w.Errorf("the first claim: %v", err)
	}
}

// claims tries the ClusterLock on the real ring.
func (w fixture) claims() {
	w.Helper()
	ctx, m := w.Context(), cql.ClusterLock{Cluster: w.on}
	first := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	other := action.Claim{Cluster: "c", Run: "r2", Holder: "there's", Epoch: 1, For: time.Minute, Break: true}
	for range 2 { // taken, prolonged
		if err := m.Claim(ctx, first); err != nil {
			w.Fatal(err)
		}
	}
	var claimed *action.ClaimedError
	if err := m.Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r1" || claimed.Expired || time.Since(claimed.Since) > time.Hour {
		w.Errorf("a second run, although the first's claim holds: %v", err)
	}
	// Whatever their machines say of the servers: they answer.
	for what, on := range w.unheard() {
		var of *action.ClaimedError
		if err := (cql.ClusterLock{Cluster: on}).Claim(ctx, other); !errors.As(err, &of) || of.Run != "r1" {
			w.Errorf("a second run, where servers %s: %v", what, err)
		}
		_ = on.Close()
	}
	later := first
	later.Epoch, later.For = 2, time.Second
	if err := m.Claim(ctx, later); err != nil {
		w.Fatal(err)
	}
	if err := m.Claim(ctx, first); !errors.As(err, &claimed) {
		w.Errorf("at an older epoch: %v", err)
	}
	other.Break = false
	w.until("the claim runs out", func() bool {
		return errors.As(m.Claim(ctx, other), &claimed) && claimed.Expired
	})
	other.Break = true
	if err := m.Claim(ctx, other); err != nil {
		w.Errorf("one that has run out is not taken: %v", err)
	}
	if err := errors.Join(m.Clear(ctx, later), m.Clear(ctx, other)); err != nil {
		w.Fatal(err)
	}
	if err := m.Claim(ctx, first); err != nil {
		w.Errorf("after it was given back: %v", err)
	}
	before, after := first, first
	before.Epoch, after.Epoch = 0, 3
	other.Break = false
	if err := m.Clear(ctx, before); err != nil || !errors.As(m.Claim(ctx, other), &claimed) {
		w.Errorf("who was fenced gave it back: %v", err)
	}
	if err := errors.Join(m.Clear(ctx, after), m.Claim(ctx, other)); err != nil {
		w.Errorf("given back by a session that could not prolong it: %v", err)
	}
	if err := m.Clear(ctx, other); err != nil {
		w.Fatal(err)
	}
}

// claimsWithoutQuorum tries it where too few replicas can answer to store a claim: who has stored none learns that others do not see it, and who
// has goes on. A keyspace that wants six replicas of three nodes never has its quorum.
func (w fixture) claimsWithoutQuorum() {
	w.Helper()
	ctx := w.Context()
	nodes, err := w.on.List(ctx)
	if err != nil {
		w.Fatal(err)
	}
	for i := range nodes { // one replica may be read still
		nodes[i].Target.Options = maps.Clone(nodes[i].Target.Options)
		if nodes[i].Target.Options == nil {
			nodes[i].Target.Options = map[string]string{}
		}
		nodes[i].Target.Options["consistency"] = "ONE"
	}
	weak := &cluster.Cluster{Name: "ring", Engine: enginecql.Engine{}, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
	defer func() { _ = weak.Close() }()
	m := cql.ClusterLock{Cluster: weak}
	replicas := func(n int) {
		w.Helper()
		alter := fmt.Sprintf("ALTER KEYSPACE plimsoll WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': %d}", n)
		if err := w.on.Execute(ctx, "n1", []string{alter}, func(int) {}); err != nil {
			w.Fatal(err)
		}
	}
	replicas(6)
	c := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	if err := m.Claim(ctx, c); engine.ClassOf(err) != engine.Unavailable {
		w.Errorf("a first claim: %v", err)
	}
	c.Stored = true
	if err := m.Claim(ctx, c); err != nil {
		w.Errorf("one that is stored: %v", err)
	}
	replicas(3)
	w.until("the ring agrees", func() bool { return m.Claim(ctx, c) == nil })
	if err := m.Clear(ctx, c); err != nil {
		w.Error(err)
	}
}
