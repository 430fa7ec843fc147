package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
)

// A server that is dead is shown as such to whoever scrapes, and has no figures: not those of before, and not those that come late.
func TestADeadServerHasNoMetrics(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var l Latest
	add := func(instance string, at time.Time, values map[string]float64) {
		var all []watch.Sample
		for name, v := range values {
			all = append(all, watch.Sample{Name: name, At: at, Value: v, Labels: []watch.Label{{Name: "instance", Value: instance}}})
		}
		if err := l.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	shown := func() string {
		w := httptest.NewRecorder()
		l.Metrics(func() time.Time { return now }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
		var lines []string
		for line := range strings.Lines(w.Body.String()) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return strings.Join(lines, "; ")
	}
	expect := func(when, want string) {
		t.Helper()
		if got := shown(); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	add("a/n1", now, map[string]float64{"up": 1, "mysql_up": 1, "mysql_global_status_questions": 7})
	add("a/n2", now, map[string]float64{"up": 1, "cassandra_clients": 2})
	now = now.Add(time.Second)
	add("a/n1", now, map[string]float64{"up": 0, "mysql_up": 0})
	const n2 = `cassandra_clients{instance="a/n2"} 2; `
	down := n2 + `mysql_up{instance="a/n1"} 0; up{instance="a/n1"} 0; up{instance="a/n2"} 1`
	expect("after its death", down)
	add("a/n1", now.Add(-time.Second), map[string]float64{"plimsoll_statement_aas": 3}) // a slower reading had begun before
	expect("after what comes late", down)
	now = now.Add(time.Second)
	add("a/n1", now, map[string]float64{"up": 1, "mysql_up": 1, "mysql_global_status_questions": 1})
	expect("after its return", n2+`mysql_global_status_questions{instance="a/n1"} 1; mysql_up{instance="a/n1"} 1; up{instance="a/n1"} 1; up{instance="a/n2"} 1`)
	l.End("a/n1")
	expect("watched no more", n2+`up{instance="a/n2"} 1`)
}
