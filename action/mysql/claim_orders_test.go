package mysql

import (
	"context"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// endsOrdersOfOthers has a process that was killed leave a connection by which it was giving an order to a server. What it had sent is not executed
// any more once the next process has the cluster, and while that process gives orders itself no other connection does.
func endsOrdersOfOthers(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx := t.Context()
	primary, err := on.Primary(ctx)
	if err != nil {
		t.Fatal(err)
	}
	db, err := on.Database(ctx, primary.Name)
	if err != nil {
		t.Fatal(err)
	}
	dead := func() engine.Session {
		session, err := db.Session(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		if got, err := cluster.ValueOf(ctx, session, "SELECT GET_LOCK('"+admin.OrderLock+"', 0)"); err != nil || got != "1" {
			t.Fatalf("the order lock is not free: %s, %v", got, err)
		}
		return session
	}
	const late = "SET GLOBAL max_connect_errors = 4321" // stands for any order
	executes := func(session engine.Session) bool { return session.Exec(ctx, late, nil) == nil }
	free := func() {
		t.Helper()
		if holder, err := on.Value(ctx, primary.Name, admin.LockHolder(admin.OrderLock)); err != nil || holder != "NULL" {
			t.Errorf("the order lock is held by connection %s, %v", holder, err)
		}
	}

	other := dead()
	c := action.Claim{Cluster: "c", Run: "orders", Holder: "here", Epoch: 1, For: time.Minute}
	m := NewClusterLock(on)
	short, cancel := context.WithTimeout(ctx, time.Second) // as a run that goes on has
	defer cancel()
	if err := m.Claim(short, c); err != nil {
		t.Fatal(err)
	}
	if executes(other) {
		t.Error("an order of a process that was killed was executed after the next one had taken the cluster")
	}
	free()

	// One that only prolongs its claim, or whose own connection gives an order, is not in its own way.
	ours := dead()
	if err := m.Claim(ctx, c); err != nil {
		t.Fatal(err)
	}
	if !executes(ours) {
		t.Error("prolonging a claim ended a connection that gives an order")
	}

	// A server that did not answer when the cluster was taken: the connection is ended before an order is given there.
	if err := on.Use(ctx, primary.Name, func(session engine.Session) error {
		orders := ordersBy(primary, session)
		return orders.Alone(ctx, func() error { return orders.Do(ctx, "SET GLOBAL max_connect_errors = 1234") })
	}); err != nil {
		t.Fatal(err)
	}
	if executes(ours) {
		t.Error("an order of a process that was killed was executed after one of the next process")
	}
	if got, err := on.Value(ctx, primary.Name, admin.Global("max_connect_errors")); err != nil || got != "1234" {
		t.Errorf("max_connect_errors is %s, %v", got, err)
	}
	free()
	if err := m.Clear(ctx, c); err != nil {
		t.Error(err)
	}
	if err := on.Execute(ctx, primary.Name, []string{"SET GLOBAL max_connect_errors = DEFAULT"}, func(int) {}); err != nil {
		t.Error(err)
	}
}
