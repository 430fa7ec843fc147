package catalog

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/lab"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

const watchedTrial = `trial: watched
cluster: {engine: mariadb}
load: {workload: oltp_point_select, table_size: 1000, rate: 100, connections: 4}
timeline:
  - baseline: 5s
  - run: {sql: "DO SLEEP(8)"}
    as: sleep
phases: {warmup: 2s, rounds: 1}
queries:
  - {name: accounts, sql: "SELECT user, COUNT(*) + 40 AS n FROM mysql.global_priv WHERE user = 'root' GROUP BY user", every: 1s, labels: [user], values: [n]}
expect:
  - highest("watch.mysql_global_status_threads_running").on("n1").baseline >= 1
  - highest("watch.sum(plimsoll_aas)").during("sleep") > 0.5
  - highest("watch.up").during("sleep") < 1
  - lowest("watch.sql_accounts_n{user='root'}").during("sleep") > 40
  - highest("watch.max(sql_accounts_n)").baseline < 41
`

// Expectations name watched series, of a node and of the whole cluster, in phases; what the servers show is what is judged.
func TestExpectationsNameWatchedSeries(t *testing.T) {
	t.Parallel()
	if _, err := spec.Parse("watched.yaml", []byte(strings.Replace(watchedTrial, "watch.up", "watch.upp", 1)), spec.Options{}, Parts()); err == nil || !strings.Contains(err.Error(), `did you mean "up"?`) {
		t.Errorf("an unknown series: %v", err)
	}
	for change, want := range map[string]string{
		"watch.sql_accounts_n{→watch.sql_accounts_m{": `did you mean "sql_accounts_n"?`,
		"watch.sql_accounts_n{→watch.sql_orders_n{":   "queries make sql_accounts_n",
		"every: 1s, labels→every: 1ms, labels":        "expected 1s or more",
		"every: 1s, labels→only_on: [orders], labels": "a trial has one cluster",
	} {
		before, after, _ := strings.Cut(change, "→")
		if _, err := spec.Parse("watched.yaml", []byte(strings.Replace(watchedTrial, before, after, 1)), spec.Options{}, Parts()); err == nil || !strings.Contains(err.Error()+hint.Of(err), want) {
			t.Errorf("with %s: %v", after, err)
		}
	}
	if testing.Short() {
		t.Skip("starts real servers")
	}
	tr, err := spec.Parse("watched.yaml", []byte(watchedTrial), spec.Options{}, Parts())
	if err != nil {
		t.Fatal(err)
	}
	machine, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	r, err := run.Run(t.Context(), tr, Parts(), run.Options{
		Lab: lab.Deps{Machine: machine, Launchers: Launchers(), Home: home, Cache: cache},
		Dir: filepath.Join(home, "result"), Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []analyze.Answer{analyze.Pass, analyze.Pass, analyze.Fail, analyze.Pass, analyze.Fail}
	if len(r.Verdict.Claims) != len(want) {
		t.Fatalf("%+v", r.Verdict)
	}
	for n, f := range r.Verdict.Claims {
		if f.Verdict != want[n] {
			t.Errorf("%s: %s, estimate %v, %s; want %s", f.Expect, f.Verdict, f.Estimate, f.Needs, want[n])
		}
	}
}
