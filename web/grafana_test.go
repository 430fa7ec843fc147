package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/api"
	"plimsoll/watch/rules"
	"plimsoll/watch/store"
)

// grafana asks as the Prometheus data source of Grafana does: over HTTP, with the name and password of the data source, queries as forms,
// resources as forms where Prometheus takes them so and else by GET, and a second time by GET where a form is refused. Grafana itself, which
// is under the AGPL, is not part of these tests: what it asks was read in the requests of its data source (pkg/promlib, grafana-prometheus).
type grafana struct {
	t              *testing.T
	url            string
	user, password string
	method         string // that the data source is set to: POST is its default
}

// answered is what came back: its status, and of Prometheus' envelope what the data source reads.
type answered struct {
	status    int
	Status    string
	ErrorType string
	Error     string
	Data      json.RawMessage
	Warnings  []string
}

func (g grafana) send(method, path string, form url.Values) answered {
	g.t.Helper()
	address, body := g.url+"/"+path, io.Reader(http.NoBody)
	if method == http.MethodPost {
		body = strings.NewReader(form.Encode())
	} else if len(form) > 0 {
		address += "?" + form.Encode()
	}
	r, err := http.NewRequestWithContext(g.t.Context(), method, address, body)
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("User-Agent", "Grafana/12.2.0")
	r.Header.Set("X-Grafana-Org-Id", "1")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.SetBasicAuth(g.user, g.password)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }() // it was only read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	a := answered{status: got.StatusCode}
	if err := json.Unmarshal(text, &a); err != nil || !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		g.t.Fatalf("%s %s is answered %d, %s: %s", method, path, got.StatusCode, got.Header.Get("Content-Type"), text)
	}
	return a
}

func (g grafana) query(path string, form url.Values) answered { return g.send(g.method, path, form) }

// onlyGet are the resources that the data source never asks for by a form.
var onlyGet = []string{"api/v1/label/", "api/v1/metadata", "api/v1/rules", "api/v1/alerts", "api/v1/status/"}

func (g grafana) resource(path string, form url.Values) answered {
	method := g.method
	if slices.ContainsFunc(onlyGet, func(p string) bool { return strings.HasPrefix(path, p) }) {
		method = http.MethodGet
	}
	a := g.send(method, path, form)
	if method == http.MethodPost && (a.status == http.StatusMethodNotAllowed || a.status == http.StatusBadRequest) {
		a = g.send(http.MethodGet, path, form)
	}
	return a
}

// into reads the data of an answer that must be a success.
func (a answered) into(t *testing.T, what string, v any) {
	t.Helper()
	if a.status != http.StatusOK || a.Status != "success" {
		t.Fatalf("%s is answered %d %s: %s", what, a.status, a.ErrorType, a.Error)
	}
	if err := json.Unmarshal(a.Data, v); err != nil {
		t.Fatalf("%s: %s: %v", what, a.Data, err)
	}
}

// vector and matrix are what the data source makes frames of.
type (
	point  [2]any // seconds since 1970, and the value as a text
	vector struct {
		ResultType string
		Result     []struct {
			Metric map[string]string
			Value  point
		}
	}
	matrix struct {
		ResultType string
		Result     []struct {
			Metric map[string]string
			Values []point
		}
	}
)

// fedHouse is a page whose API answers from ten minutes of two instances.
func fedHouse(t *testing.T) (*house, time.Time) {
	t.Helper()
	h := newHouseWith(t, fmt.Sprintf("basic_auth_users: {graf: %q}\nroles: {graf: view}\n", hash(t, "g")))
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the test has ended
	now := time.Now().Truncate(time.Second)
	for i := range 600 {
		var all []watch.Sample
		for n, name := range []string{"a/n1", "a/n2"} {
			labels := []watch.Label{{Name: "instance", Value: name}, {Name: "cluster", Value: "a"}, {Name: "job", Value: "mysql"}}
			at := now.Add(time.Duration(i-599) * time.Second)
			all = append(all, watch.Sample{Name: "mysql_global_status_questions", At: at, Value: float64(7 * i), Labels: labels},
				watch.Sample{Name: "up", At: at, Value: float64(1 - n), Labels: labels})
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
	h.api = (&api.API{Store: s, Rules: e, Now: func() time.Time { return now }}).Handler()
	return h, now
}

// Grafana takes the page as a Prometheus data source: it is saved and tested, explored, asked for variables, curves, tables, exemplars,
// annotations and rules, by a user who may only look, whichever method it is set to.
func TestGrafanaTakesThePageAsADataSource(t *testing.T) {
	h, now := fedHouse(t)
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		t.Run(method, func(t *testing.T) { grafana{t, h.url, "graf", "g", method}.asksAll(now) })
	}
	t.Run("with a wrong password", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/api/v1/query", strings.NewReader("query=1%2B1"))
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("graf", "x")
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode != http.StatusUnauthorized {
			t.Errorf("answered %d", got.StatusCode)
		}
	})
}

func (g grafana) asksAll(now time.Time) {
	t := g.t
	seconds := func(at time.Time) string { return fmt.Sprint(at.Unix()) }
	from, to := seconds(now.Add(-5*time.Minute)), seconds(now)
	during := func(pairs ...string) url.Values {
		v := url.Values{"start": {from}, "end": {to}}
		for n := 0; n < len(pairs); n += 2 {
			v.Add(pairs[n], pairs[n+1])
		}
		return v
	}

	// Save and test: the sum is asked for at the fourth second of 1970, then which Prometheus this is.
	var two struct {
		ResultType string
		Result     point
	}
	g.query("api/v1/query", url.Values{"query": {"1+1"}, "time": {"4"}}).into(t, "1+1", &two)
	if two.ResultType != "scalar" || fmt.Sprint(two.Result) != "[4 2]" {
		t.Errorf("1+1 is %+v", two)
	}
	var build struct {
		Version  string
		Features map[string]string
	}
	g.resource("api/v1/status/buildinfo", nil).into(t, "the version", &build)
	if !strings.HasPrefix(build.Version, "3.") || len(build.Features) > 0 { // of what has features Grafana thinks that it is Mimir
		t.Errorf("it is %+v", build)
	}

	// A curve, whose step is a number of seconds, and its instant value, both with the time-out of the data source.
	var lines matrix
	const rate = `rate(mysql_global_status_questions{instance="a/n1"}[1m])`
	g.query("api/v1/query_range", during("query", rate, "step", "15", "timeout", "60s")).into(t, "a curve", &lines)
	if lines.ResultType != "matrix" || len(lines.Result) != 1 || len(lines.Result[0].Values) != 21 || lines.Result[0].Values[20][1] != "7" || lines.Result[0].Metric["instance"] != "a/n1" {
		t.Errorf("the curve is %+v", lines)
	}
	var table vector
	g.query("api/v1/query", url.Values{"query": {"up"}, "time": {to}, "timeout": {"60s"}}).into(t, "a table", &table)
	if table.ResultType != "vector" || len(table.Result) != 2 || table.Result[0].Metric["__name__"] != "up" || table.Result[0].Value[1] != "1" {
		t.Errorf("the table is %+v", table)
	}
	// Exemplars are asked for beside a curve where the switch is on; there are none.
	var exemplars []any
	if g.query("api/v1/query_exemplars", during("query", rate)).into(t, "exemplars", &exemplars); exemplars == nil || len(exemplars) > 0 {
		t.Errorf("exemplars %v", exemplars)
	}

	// The editor: metrics, their kinds, labels, values and series, each at most 40,000.
	var names []string
	if g.resource("api/v1/label/__name__/values", during("limit", "40000")).into(t, "metrics", &names); !slices.Contains(names, "mysql_global_status_questions") || !slices.IsSorted(names) {
		t.Errorf("metrics %v", names)
	}
	var kinds map[string][]struct{ Type, Help, Unit string }
	if g.resource("api/v1/metadata", url.Values{"limit": {"40000"}}).into(t, "metadata", &kinds); kinds["up"][0].Type != "gauge" || kinds["mysql_global_status_questions"][0].Help == "" {
		t.Errorf("metadata %v", kinds)
	}
	kinds = nil
	if g.resource("api/v1/metadata", url.Values{"metric": {"up"}, "limit_per_metric": {"1"}}).into(t, "metadata of one", &kinds); len(kinds) != 1 || kinds["up"] == nil {
		t.Errorf("metadata of up: %v", kinds)
	}
	var labels []string
	if g.resource("api/v1/labels", during("match[]", `{__name__!=""}`, "limit", "40000")).into(t, "labels", &labels); !slices.Contains(labels, "cluster") || !slices.Contains(labels, "instance") {
		t.Errorf("labels %v", labels)
	}
	var series []map[string]string
	if g.resource("api/v1/series", during("match[]", `{__name__!=""}`, "limit", "40000")).into(t, "series", &series); len(series) < 4 || series[0]["__name__"] == "" {
		t.Errorf("series %v", series)
	}
	cut := g.resource("api/v1/series", during("match[]", `{__name__!=""}`, "limit", "1"))
	if cut.into(t, "one series", &series); len(series) != 1 || len(cut.Warnings) != 1 {
		t.Errorf("at most one: %v, %v", series, cut.Warnings)
	}
	for _, path := range []string{"api/v1/labels", "api/v1/label/instance/values"} {
		one := g.resource(path, during("limit", "1"))
		if one.into(t, path, &labels); len(labels) != 1 || len(one.Warnings) != 1 {
			t.Errorf("%s, at most one: %v, %v", path, labels, one.Warnings)
		}
	}

	// A variable of the dashboards: label_values(up, cluster), and the same of one cluster.
	if g.resource("api/v1/label/cluster/values", during("match[]", "up", "limit", "40000")).into(t, "clusters", &labels); !slices.Equal(labels, []string{"a"}) {
		t.Errorf("clusters %v", labels)
	}
	if g.resource("api/v1/label/instance/values", during("match[]", `up{cluster=~"a"}`)).into(t, "instances", &labels); !slices.Equal(labels, []string{"a/n1", "a/n2"}) {
		t.Errorf("instances %v", labels)
	}

	// Annotations of the alerts that fire, and the list of rules on the page of alerts.
	g.query("api/v1/query_range", during("query", `ALERTS{alertstate="firing"}`, "step", "60")).into(t, "annotations", &lines)
	if len(lines.Result) != 1 || lines.Result[0].Metric["alertname"] != "InstanceDown" {
		t.Errorf("annotations %+v", lines)
	}
	var rules struct {
		Groups []struct {
			Name, File string
			Rules      []struct {
				Name, Query, Type, State, Health string
				Alerts                           []struct {
					Labels   map[string]string
					State    string
					ActiveAt time.Time
					Value    string
				}
			}
		}
	}
	g.resource("api/v1/rules", url.Values{"group_limit": {"40"}}).into(t, "rules", &rules)
	fires := false
	for _, group := range rules.Groups {
		for _, r := range group.Rules {
			fires = fires || r.Name == "InstanceDown" && r.State == "firing" && r.Type == "alerting" && len(r.Alerts) == 1 && r.Alerts[0].Labels["instance"] == "a/n2"
		}
	}
	if !fires {
		t.Errorf("no rule fires: %+v", rules)
	}

	// What cannot be asked is told in Prometheus' words, after the second try by GET too.
	if a := g.query("api/v1/query", url.Values{"query": {"sum("}, "time": {to}}); a.status != http.StatusBadRequest || a.Status != "error" || a.ErrorType != "bad_data" || !strings.Contains(a.Error, "parse error") {
		t.Errorf("half an expression is answered %+v", a)
	}
	for path, form := range map[string]url.Values{"api/v1/series": during("match[]", "{"), "api/v1/labels": during("limit", "many"), "api/v1/query_exemplars": during("query", "sum(")} {
		if a := g.resource(path, form); a.status != http.StatusBadRequest || a.ErrorType != "bad_data" {
			t.Errorf("%s of %v is answered %+v", path, form, a)
		}
	}
}
