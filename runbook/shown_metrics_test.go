package runbook

import (
	"strings"
	"testing"

	"plimsoll/action"
)

// A metric that no server shows would hold every step: it is refused where it stands, with the one that was meant.
func TestMetricsThatNothingShowsAreRefused(t *testing.T) {
	shown := func(engine string) []string {
		own := map[string][]string{"mysql": {"mysql.threads_running", "mysql.replica_lag_seconds", "mysql.replica_lag_seconds.*"}, "cql": {"cql.pending_requests"}}
		if engine != "" {
			return own[engine]
		}
		return append(own["mysql"], own["cql"]...)
	}
	actions := action.Generic()
	for i := range actions {
		if actions[i].Name == "sql.execute" {
			actions[i].Engine = "mysql" // for this test
		}
	}
	const any, mysql, either = "{id: s, uses: pause, with: {for: 1s}}", "{id: s, uses: sql.execute, with: {statements: [x]}}", `{id: s, if: "1 == 2", uses: sql.execute, with: {statements: [x]}}`
	for _, c := range []struct{ when, step, want string }{
		{"mysql.threads_running > 3 * baseline.mysql.threads_running", mysql, ""},
		{"mysql.replica_lag_seconds.orders > 3", mysql, ""},
		{"p99 > 20 or throughput < 0.5 * baseline.throughput", any, ""},
		{"let most = 3; mysql.threads_running > most", any, ""},
		{"max(p50, p95) > 9", any, ""},
		{`watch["max(up)"] < 1`, any, ""},
		{"cql.pending_requests > 3", any, ""},
		{"cql.pending_requests > 3", either, ""},
		{"mysql.thread_running > 3", mysql, `t.yaml:2:33: guardrail busy: there is no metric mysql.thread_running (did you mean "mysql.threads_running"?)`},
		{"3 < baseline.mysql.thread_running", mysql, `there is no metric mysql.thread_running (did you mean "mysql.threads_running"?)`},
		{"threads_running > 3", mysql, `there is no metric threads_running (did you mean "mysql.threads_running"?)`},
		{"throughputs < 3", any, `there is no metric throughputs (did you mean "throughput"?)`},
		{"cql.pending_requests > 3", mysql, "there is no metric cql.pending_requests (name a metric of the servers, such as mysql.threads_running"},
		{"process.cpu_share > 3", mysql, "there is no metric process.cpu_share (name a metric of the servers"},
		{"(mysql.nosuch ?? 0) > 3", any, "there is no metric mysql.nosuch"},
	} {
		text := "runbook: own/change\nguardrails: [{name: busy, when: '" + c.when + "'}]\ninputs: {most: {type: integer, default: 3}}\nsteps: [" + c.step + "]\n"
		b, err := Parse("t.yaml", []byte(text), actions)
		if err != nil {
			t.Fatal(c.when, err)
		}
		switch err := CheckMetrics(b, shown); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.when, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s\nis   %v\nwant %s", c.when, err, c.want)
		}
	}
	proof := "runbook: own/change\nsteps: [{id: s, uses: sql.execute, with: {statements: [x]}, verify: {that: 'observed.value == \"1\" and baseline.mysql.thread_running > 0'}}]\n"
	b, err := Parse("t.yaml", []byte(proof), actions)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckMetrics(b, shown); err == nil || !strings.Contains(err.Error(), `verify: there is no metric mysql.thread_running (did you mean "mysql.threads_running"?)`) {
		t.Errorf("a proof: %v", err)
	}
}
