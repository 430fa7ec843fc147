package api

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/rules"
	"plimsoll/watch/store"
)

// served is the API on a store with ten minutes of two instances.
func served(t *testing.T) (*httptest.Server, time.Time) {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the test has ended
	now := time.Now().Truncate(time.Second)
	for i := range 600 {
		var all []watch.Sample
		for _, name := range []string{"a/n1", "a/n2"} {
			labels := []watch.Label{{Name: "instance", Value: name}, {Name: "cluster", Value: "a"}}
			at := now.Add(time.Duration(i-599) * time.Second)
			all = append(all, watch.Sample{Name: "mysql_global_status_questions", At: at, Value: float64(7 * i), Labels: labels},
				watch.Sample{Name: "up", At: at, Value: 0, Labels: labels})
		}
		if err := s.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	groups, err := rules.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	e := rules.New(rules.Config{Series: s, Groups: groups})
	e.Evaluate(t.Context(), now.Add(-10*time.Second))
	e.Evaluate(t.Context(), now)
	server := httptest.NewServer((&API{Store: s, Rules: e, Now: func() time.Time { return now }}).Handler())
	t.Cleanup(server.Close)
	return server, now
}

// ask returns the data of an answer, and its status.
func ask(t *testing.T, server *httptest.Server, path string, form url.Values) (data any, status int) {
	t.Helper()
	answer, err := http.PostForm(server.URL+"/api/v1/"+path, form)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var envelope struct {
		Status, ErrorType string
		Data              any
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		t.Fatalf("%s: %s: %v", path, body, err)
	}
	return envelope.Data, answer.StatusCode
}

// The questions are those that Grafana's Prometheus data source asks when it is saved, explored and drawn.
func TestGrafanasQuestions(t *testing.T) {
	server, now := served(t)
	from, to := fmt.Sprint(now.Add(-5*time.Minute).Unix()), fmt.Sprint(now.Unix())
	data, status := ask(t, server, "query", url.Values{"query": {"1+1"}, "time": {to}}) // the test of the data source
	if fmt.Sprint(data) != fmt.Sprintf("map[result:[%s 2] resultType:scalar]", fmt.Sprint(float64(now.Unix()))) || status != 200 {
		t.Errorf("1+1 is %v", data)
	}
	data, _ = ask(t, server, "query_range", url.Values{"query": {`rate(mysql_global_status_questions{instance="a/n1"}[1m])`}, "start": {from}, "end": {to}, "step": {"15"}})
	series := data.(map[string]any)["result"].([]any)
	points := series[0].(map[string]any)["values"].([]any)
	if len(series) != 1 || len(points) != 21 || fmt.Sprint(points[20].([]any)[1]) != "7" {
		t.Errorf("a rate of %v", series)
	}
	data, _ = ask(t, server, "labels", url.Values{"match[]": {"up"}, "start": {from}, "end": {to}})
	if fmt.Sprint(data) != "[__name__ cluster instance]" {
		t.Errorf("labels %v", data)
	}
	answer, err := http.Get(server.URL + "/api/v1/label/instance/values?start=" + from + "&end=" + to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if body, _ := io.ReadAll(answer.Body); !strings.Contains(string(body), `["a/n1","a/n2"]`) {
		t.Errorf("instances %s", body)
	}
	data, _ = ask(t, server, "series", url.Values{"match[]": {`up{instance="a/n2"}`}, "start": {from}, "end": {to}})
	if len(data.([]any)) != 1 {
		t.Errorf("series %v", data)
	}
	if data, _ := ask(t, server, "metadata", nil); data.(map[string]any)["up"] == nil {
		t.Errorf("metadata %v", data)
	}
	if data, _ := ask(t, server, "status/buildinfo", nil); data.(map[string]any)["version"] == nil {
		t.Errorf("build %v", data)
	}
	data, _ = ask(t, server, "rules", nil)
	if groups := data.(map[string]any)["groups"].([]any); len(groups) < 5 {
		t.Errorf("%d groups of rules", len(groups))
	}
	const answering = " unless on (cluster, instance) plimsoll_login_refused == 1"
	down := map[string]int{} // alerts of the rules of that name, by the ends of their expressions
	for _, g := range data.(map[string]any)["groups"].([]any) {
		for _, r := range g.(map[string]any)["rules"].([]any) {
			if r := r.(map[string]any); r["name"] == "InstanceDown" {
				query := r["query"].(string)
				down[query[strings.LastIndex(query, "up{"):]] = len(r["alerts"].([]any))
			}
		}
	}
	if want := map[string]int{`up{job!="cql"} == 0)` + answering: 2, `up{job="cql"} == 0` + answering: 0}; !maps.Equal(down, want) {
		t.Errorf("the rules of one name have the alerts %v, want %v", down, want)
	}
	data, _ = ask(t, server, "alerts", nil)
	firing := slices.ContainsFunc(data.(map[string]any)["alerts"].([]any), func(a any) bool {
		return a.(map[string]any)["state"] == "firing" && a.(map[string]any)["labels"].(map[string]any)["alertname"] == "InstanceDown"
	})
	if !firing {
		t.Errorf("alerts %v", data)
	}
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	server, now := served(t)
	for path, form := range map[string]url.Values{
		"query":       {"query": {"sum("}},
		"labels":      {"start": {"yesterday"}},
		"series":      {"match[]": {"{"}},
		"query_range": {"query": {"up"}, "start": {fmt.Sprint(now.Add(-24 * time.Hour).Unix())}, "end": {fmt.Sprint(now.Unix())}, "step": {"1"}},
	} {
		if _, status := ask(t, server, path, form); status != http.StatusBadRequest {
			t.Errorf("%s of %v is answered %d", path, form, status)
		}
	}
}

func TestMetricsForAScraper(t *testing.T) {
	now := time.Now()
	var latest Latest
	sample := func(name string, at time.Time, v float64, labels ...watch.Label) watch.Sample {
		return watch.Sample{Name: name, At: at, Value: v, Labels: labels}
	}
	if err := latest.Append(t.Context(), []watch.Sample{
		sample("plimsoll_aas", now.Add(-time.Second), 1, watch.Label{Name: "wait", Value: "cpu"}),
		sample("plimsoll_aas", now, 2.5, watch.Label{Name: "wait", Value: "cpu"}),
		sample("mysql_global_status_commands_total", now, 7, watch.Label{Name: "command", Value: `a"b`}),
		sample("gone", now.Add(-time.Hour), 1),
	}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	latest.Metrics(func() time.Time { return now }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	want := `# HELP mysql_global_status_commands_total Statements by kind.
# TYPE mysql_global_status_commands_total counter
mysql_global_status_commands_total{command="a\"b"} 7
# HELP plimsoll_aas Average active sessions by wait.
# TYPE plimsoll_aas gauge
plimsoll_aas{wait="cpu"} 2.5
`
	if w.Body.String() != want {
		t.Errorf("shown:\n%s", w.Body)
	}
}
