package watchcmd

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/home"
	"plimsoll/internal/labtest"
	"plimsoll/inventory"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

// The password of an account is changed on a server that is watched, and then in the file that the inventory names: the watch takes it without being
// started again.
func TestANewPasswordIsTaken(t *testing.T) {
	db := labtest.Up(t, "mariadb")
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	labtest.Ask(t, db, "CREATE USER watcher IDENTIFIED BY 'old'", "GRANT PROCESS ON *.* TO watcher")
	secret, err := filepath.Abs("secret")
	if err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secret, "old\n")
	write(inventory.File, fmt.Sprintf("clusters:\n  orders:\n    engine: mysql\n    environment: staging\n    nodes: [{name: n1, address: %q}]\n    user: watcher\n    password: {file: %q}\n", db.Target.Addresses[0], secret))
	inv, err := inventory.Open()
	if err != nil {
		t.Fatal(err)
	}
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	f := &Finder{Names: []string{"orders"}, Deps: deps, Set: &settings.Settings{}, Log: slog.New(slog.DiscardHandler)}
	sources, err := f.Find(t.Context(), inv)
	if err != nil {
		t.Fatal(err)
	}
	w := watch.New(watch.Config{Sources: sources})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) }) // it ends with ctx
	running.Go(func() {
		f.Rediscover(ctx, 100*time.Millisecond, func(_ context.Context, found []watch.Source) error { w.Follow(found); return nil })
	})
	defer running.Wait()
	defer stop()
	await := func(want watch.State) {
		t.Helper()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		var i watch.Instance
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-tick.C {
			if i, _ = w.Instance("orders/n1"); i.State == want {
				return
			}
		}
		t.Fatalf("it is %s, %s, and not %s", i.State, i.Why, want)
	}
	await(watch.Up)
	labtest.Ask(t, db, "ALTER USER watcher IDENTIFIED BY 'new'", "KILL CONNECTION USER watcher")
	await(watch.Refused)
	write(secret, "new\n")
	await(watch.Up)
}
