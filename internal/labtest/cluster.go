package labtest

import (
	"context"
	"errors"
	"maps"
	"os"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/cql"
	"plimsoll/engine/mysql/launch"
	"plimsoll/infra/local"
	"plimsoll/internal/poll"
	"plimsoll/lab"
)

// quick are settings with which servers start fast. Cassandra's time goes into Java's: what runs for a minute is not worth
// its second compiler, the threads of its collector, and the checks of classes that have been checked; and into waiting for
// gossip, which in a ring on one machine is everywhere after two seconds: a node that replaces another waits for a broadcast. Every server
// measures at its start what a row takes beside its data, on 100,000 rows, of which a hundredth tell it as well, and looks at
// the clock 500 times a second, for which ten do where timeouts are seconds (docs/decisions/270).
var quick = map[string]map[string]string{
	"cassandra": {
		"max_heap_size":                                    "384M",
		"jvm_extra_opts":                                   "-XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -XX:MinHeapSize=64m -XX:InitialHeapSize=128m",
		"cassandra.ring_delay_ms":                          "2000",
		"cassandra.broadcast_interval_ms":                  "2000",
		"cassandra.memtable_row_overhead_computation_step": "1000",
		"cassandra.approximate_time_precision_ms":          "100",
	},
}

// Cluster starts a cluster, which ends with the test. Short tests skip it. On machines of its own it needs a TestMain that lets
// uml.Run have the arguments that follow "machine".
func Cluster(t testing.TB, spec lab.Spec) *lab.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	deps := lab.Deps{
		Machine: machine, Launchers: []engine.Launcher{launch.Servers{}, launch.RDS{}, cql.Servers{}},
		Home: shortDir(t), Cache: cache, Say: func(text string) { t.Log(text) }, Monitor: []string{os.Args[0], "machine"},
	}
	for name, value := range quick[spec.Product] {
		if spec.Config[name] == "" {
			spec.Config = maps.Clone(spec.Config)
			if spec.Config == nil {
				spec.Config = map[string]string{}
			}
			spec.Config[name] = value
		}
	}
	cluster, err := up(t, spec, deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// up starts a cluster, and waits where memory is short: labs of other tests have it, which end.
func up(t testing.TB, spec lab.Spec, deps lab.Deps) (cluster *lab.Cluster, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	err = poll.Until(ctx, 2*time.Second, func() (waitsFor string, err error) {
		cluster, err = lab.Up(t.Context(), spec, deps)
		if errors.Is(err, lab.ErrTooLittleMemory) {
			return err.Error(), nil
		}
		return "", err
	})
	return cluster, err
}
