package mysql

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// outlives cuts a statement off while it waits in the server, as the death of Plimsoll would, and looks that it is waited for:
// it comes to its end all the same.
func outlives(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx := t.Context()
	if err := on.Execute(ctx, "", []string{
		"CREATE DATABASE IF NOT EXISTS outlives", "CREATE TABLE IF NOT EXISTS outlives.slow (id INT PRIMARY KEY, v INT) ENGINE=InnoDB", "REPLACE INTO outlives.slow VALUES (1, 0)",
	}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	db, err := on.Database(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	holder, err := db.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close() }()
	for _, text := range []string{"BEGIN", "SELECT v FROM outlives.slow WHERE id = 1 FOR UPDATE"} {
		if err := holder.Exec(ctx, text, nil); err != nil {
			t.Fatal(err)
		}
	}
	task := actiontest.Task(t, action.Generic(), "sql.execute",
		`{statements: ["UPDATE outlives.slow SET v = 1 WHERE id = 1"], check: "SELECT v FROM outlives.slow WHERE id = 1", want: "1", repeatable: true}`)
	call := action.Call{Token: "outlives-" + on.Name, Progress: func(float64, string) {}}
	executing := func() int {
		n, err := db.(engine.InFlightCounting).Executing(ctx, "/* plimsoll "+call.Token)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	acting, cut := context.WithCancel(ctx)
	acted := make(chan error, 1)
	go func() {
		_, err := task.Act(acting, on, call)
		acted <- err
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for executing() == 0 {
		<-tick.C
	}
	cut()
	if err := <-acted; err == nil {
		t.Fatal("the act that was cut off succeeded")
	}
	if executing() != 1 {
		t.Fatal("the statement ended with its connection: there is nothing to wait for")
	}
	reading := on.ReadOnly()
	defer func() { _ = reading.Close() }()
	waiting, enough := context.WithCancel(ctx)
	seen := call
	seen.Progress = func(float64, string) { enough() } // it has looked, and found that the statement goes on
	if err := task.(action.InFlightWaiter).AwaitInFlight(waiting, reading, seen); err == nil || !strings.Contains(err.Error(), "still running") {
		t.Errorf("while it goes on: %v", err)
	}
	if err := holder.Exec(ctx, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	if err := task.(action.InFlightWaiter).AwaitInFlight(ctx, reading, call); err != nil {
		t.Errorf("after its end: %v", err)
	}
	if f, err := task.Check(ctx, reading); err != nil || f.State != action.Satisfied {
		t.Errorf("the statement did not do what it was begun for: %+v, %v", f, err)
	}
}
