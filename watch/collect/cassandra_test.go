package collect

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/watch"
)

func TestCassandra(t *testing.T) {
	db := labtest.Up(t, "cassandra")
	dial := func(ctx context.Context) (engine.Session, error) { return db.Session(ctx) }
	w := &watched{t: t, db: db, readers: Cassandra(dial, db.Target.Addresses[0], 2), samples: map[string]float64{}}
	w.readers[0].(*cassandra).breaker.slow = time.Minute // a machine that compiles beside this test is slow to answer
	labtest.Ask(t, db, "CREATE TABLE test.t (id int PRIMARY KEY, v int)")
	w.read(watch.TenSeconds)
	// The server works out its rates every five seconds.
	for begun := time.Now(); (w.seen.P99 == nil || w.seen.Throughput == nil || *w.seen.Throughput < 1) && time.Since(begun) < 30*time.Second; w.read(watch.TenSeconds) {
		for round := time.Now(); time.Since(round) < 2*time.Second; {
			labtest.Ask(t, db, "INSERT INTO test.t (id, v) VALUES (1, 2)", "SELECT v FROM test.t WHERE id = 1")
		}
	}
	if w.seen.Version == "" || w.seen.Load == nil || w.seen.Throughput == nil || *w.seen.Throughput < 1 || w.seen.P99 == nil {
		t.Errorf("%+v", w.seen)
	}
	for _, name := range dashboardNames(t, "cassandra.json", "cassandra") {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(w.samples)), func(key string) bool { return key == name || strings.HasPrefix(key, name+" ") }) {
			t.Errorf("the server shows no %s, which a dashboard names", name)
		}
	}
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := CassandraDisk(dial, machine).Collect(t.Context(), watch.Minute, time.Now()); err != nil || len(r.Samples) != 2 || r.Samples[1].Value <= 0 {
		t.Errorf("the disk: %+v, %v", r.Samples, err)
	}
	for _, name := range []string{"plimsoll_cores", "cassandra_pending_compactions", "cassandra_active_tasks ReadStage", "cassandra_hinted_endpoints", "cassandra_clients", "cassandra_requests_total test t write"} {
		if _, ok := w.samples[name]; !ok {
			t.Errorf("no %s among %d series; it lacks %v", name, len(w.samples), w.seen.Watching.Lacks)
		}
	}
}
