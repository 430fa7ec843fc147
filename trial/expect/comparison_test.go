package expect

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/document"
)

func TestExpectationsTakeTheFormThatIsJudged(t *testing.T) {
	compiler := Vocabulary{
		Variants: []string{"a", "b"}, Factors: map[string][]string{"connections": {"4", "8"}},
		Phases: []string{"baseline", "lab/freeze", "recovery"}, Operations: []string{"new_order"},
	}
	for text, want := range map[string]struct {
		op     string
		margin float64
		ratio  bool
		unit   string
		values []float64 // one per metric
		result float64
	}{
		`throughput["b"] > 0.9 * throughput["a"]`:                           {">", 0.9, true, "ratio", []float64{50, 100}, 0.5},
		`2 * throughput["b"] >= throughput["a"]`:                            {">=", 0.5, true, "ratio", []float64{50, 100}, 0.5},
		`throughput["b"] / 2 < throughput["a"]`:                             {"<", 2, true, "ratio", []float64{50, 100}, 0.5},
		`p99(response) < 20ms`:                                              {"<", 20, true, "ms", []float64{7}, 7},
		`1.5s > p99(service)`:                                               {"<", 1500, true, "ms", []float64{7}, 7},
		`error_share < 1%`:                                                  {"<", 0.01, false, "share", []float64{0.5}, 0.5},
		`errors == 0`:                                                       {"==", 0, false, "count", []float64{3}, 3},
		`throughput["a"] - throughput["b"] < 5`:                             {"<", 5, false, "per_second", []float64{9, 2}, 7},
		`errors["a"] <= errors["b"] + 3`:                                    {"<=", 0, false, "count", []float64{9, 2}, 4},
		`p99(response).during("lab/freeze") < 3 * p99(response).baseline`:   {"<", 3, true, "ratio", []float64{8, 2}, 4},
		`throughput.at("connections", 8) > throughput.at("connections", 4)`: {">", 1, true, "ratio", []float64{8, 2}, 4},
		`throughput.of("new_order") + throughput > 1`:                       {">", 1, true, "per_second", []float64{8, 2}, 10},
		`p95(response, "new_order") < 5ms`:                                  {"<", 5, true, "ms", []float64{8}, 8},
		`warmth.during("lab/freeze") > 90%`:                                 {">", 0.9, false, "share", []float64{0.4}, 0.4},
		`warm_time.on("replica").during("lab/freeze") < 30s`:                {"<", 30000, false, "ms", []float64{800}, 800},
		`max(response) < mean(service)`:                                     {"<", 1, true, "ratio", []float64{8, 2}, 4},
	} {
		all, err := compiler.Compile(Expectation{Text: text})
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d, %v", text, len(all), err)
			continue
		}
		c := all[0]
		if c.Op != want.op || math.Abs(c.Margin-want.margin) > 1e-12 || c.Ratio != want.ratio || c.Unit != want.unit || len(c.Metrics) != len(want.values) {
			t.Errorf("%s: %s %v ratio %v unit %q of %v", text, c.Op, c.Margin, c.Ratio, c.Unit, c.Metrics)
			continue
		}
		if got := c.Estimate(want.values); math.Abs(got-want.result) > 1e-12 {
			t.Errorf("%s: estimate %v, want %v", text, got, want.result)
		}
	}
	both, err := compiler.Compile(Expectation{Text: "errors == 0 and late == 0"})
	if err != nil || len(both) != 2 {
		t.Errorf("and: %d, %v", len(both), err)
	}
}

func TestExpectationsNameSignals(t *testing.T) {
	compiler := Vocabulary{
		Phases: []string{"baseline", "mysql/multi-source", "recovery"}, Steps: map[string][]string{"mysql/multi-source": {"channel"}}, Rounds: 1,
		Signals: []string{"mysql.threads_running", "mysql.replica_lag_seconds", "mysql.replica_lag_seconds.*", "mysql.pool_miss_share", "load.stall_ms"},
	}
	for text, want := range map[string]struct {
		margin float64
		unit   string
		metric string
	}{
		`highest("mysql.replica_lag_seconds.n1") < 5`:                                      {5, "seconds", `highest("mysql.replica_lag_seconds.n1")`},
		`highest("mysql.replica_lag_seconds").on("n2").recovery <= 1.5s`:                   {1.5, "seconds", `highest("mysql.replica_lag_seconds").on("n2").during("recovery")`},
		`2s > last("mysql.replica_lag_seconds")`:                                           {2, "seconds", `last("mysql.replica_lag_seconds")`},
		`mean("load.stall_ms") < 2s`:                                                       {2000, "ms", `mean("load.stall_ms")`},
		`lowest("mysql.pool_miss_share").baseline < 1%`:                                    {0.01, "share", `lowest("mysql.pool_miss_share").during("baseline")`},
		`mean("mysql.threads_running").during("mysql/multi-source", "channel") / 2 > 3`:    {6, "", `mean("mysql.threads_running").during("mysql/multi-source", "channel")`},
		`highest("mysql.threads_running").recovery < highest("mysql.threads_running") + 1`: {0, "", `highest("mysql.threads_running").during("recovery")`},
	} {
		all, err := compiler.Compile(Expectation{Text: text})
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d, %v", text, len(all), err)
			continue
		}
		if c := all[0]; c.Margin != want.margin || c.Ratio || c.Unit != want.unit || c.Metrics[0].String() != want.metric {
			t.Errorf("%s: %s %v in %q of %v", text, c.Op, c.Margin, c.Unit, c.Metrics)
		}
	}
	both, err := compiler.Compile(Expectation{Text: `highest("mysql.replica_lag_seconds.n1") < 5s and p99(response) < 20ms`})
	if err != nil || len(both) != 2 || both[0].Margin != 5 || both[1].Margin != 20 || both[1].Text != "p99(response) < 20ms" {
		t.Errorf("seconds beside milliseconds: %+v, %v", both, err)
	}
}

func TestExpectationsOnSignalsAreRefused(t *testing.T) {
	compiler := Vocabulary{
		at: &document.Node{File: "t.yaml", Line: 9, Column: 3}, Phases: []string{"baseline"}, Operations: []string{"read"}, Rounds: 3, Changeless: true,
		Signals: []string{"mysql.threads_running", "mysql.replica_lag_seconds", "mysql.replica_lag_seconds.*", "load.backlog"}, OfNoNode: []string{"load.backlog"}, Nodes: 2,
	}
	for text, want := range map[string]string{
		`highest("mysql.replica_lag_second.n1") < 5`:                  `did you mean "mysql.replica_lag_seconds.n1"?`,
		`highest("mysql.thread_running") < 5`:                         `did you mean "mysql.threads_running"?`,
		`highest("nothing.like.it.at.all") < 5`:                       "docs/trial-reference.md lists the signals",
		`last("mysql.threads_running") < 5`:                           "a last reading in each of 3 rounds",
		`max("mysql.threads_running") < 5`:                            `highest("mysql.threads_running")`,
		`highest < 5`:                                                 "highest of what?",
		`highest(response) < 5`:                                       "highest of what?",
		`highest("mysql.threads_running").on("replica") < 5`:          "a signal is of one node",
		`highest("load.backlog").on("n1") < 5`:                        "shown by the load generator",
		`highest("mysql.threads_running").of("read") < 5`:             "not by operation",
		`highest("mysql.threads_running").recovery < 5`:               `unknown phase "recovery"`,
		`throughput["c"] > 1`:                                         `unknown variant "c": this trial compares no variants`,
		`warmth.on("n3") > 0.5`:                                       `on("n3"): no such node, the cluster has n1 to n2`,
		`p99(response) < 10`:                                          "compares a time with a number without a unit",
		`10 > p99(response) - p50(response)`:                          "write the unit: 10ms or 10s",
		`recovery_time < 10s`:                                         "recovery_time: nothing is changed in this trial",
		`warm_time < 10s`:                                             "warm_time: nothing is changed in this trial",
		`load.backlog < 10`:                                           `highest("load.backlog")`,
		`mysql.thread_running["b"] < 10`:                              `did you mean "mysql.threads_running"?`,
		`throughput > 100ms`:                                          `compares throughput, which is a number per second, with a time`,
		`p99(response) < 0.5 * throughput`:                            `compares a time with a number per second`,
		`highest("mysql.replica_lag_seconds") - p99(response) < 20ms`: "in seconds and in milliseconds",
	} {
		if _, err := compiler.Compile(Expectation{Text: text, At: compiler.at}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
