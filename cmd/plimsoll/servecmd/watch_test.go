package servecmd

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/home"
)

// What is to be watched may come after the page was started, as the page itself advises: it is found then.
func TestInstancesThatComeLaterAreWatched(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PLIMSOLL_HOME", folder)
	t.Chdir(folder)
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	w, ended, err := servedWatch(ctx, deps, "", 20*time.Millisecond, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		if err := ended(); err != nil {
			t.Error(err)
		}
	}()
	if w.Fleet == nil || w.Query == nil || len(w.Fleet().Instances) > 0 {
		t.Fatalf("with an empty inventory: %+v", w)
	}
	const inventory = "clusters:\n  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: \"127.0.0.1:1\"}]}\n"
	if err := os.WriteFile("plimsoll.yaml", []byte(inventory), 0o600); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); len(w.Fleet().Instances) == 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("what was added to the inventory is not watched")
		}
	}
	if i := w.Fleet().Instances[0]; i.Name != "orders/a" {
		t.Errorf("watched is %s", i.Name)
	}
}
