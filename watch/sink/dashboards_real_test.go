package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
)

// panel is a visualization or a saved search of the dashboards for OpenSearch, as its file has it.
type panel struct {
	Type, ID   string
	Attributes struct {
		VisState string
		Columns  []string
		Meta     struct {
			SearchSourceJSON string
		} `json:"kibanaSavedObjectMeta"`
	}
}

// aggregation is one of a visualization.
type aggregation struct {
	ID, Type, Schema string
	Params           struct {
		Field, Order, OrderBy string
		Size                  int
	}
}

// fleetDocuments are what a watch writes in half an hour of two instances of which everything is known, with an alert and a change.
func fleetDocuments(now time.Time) (all []watch.Document) {
	value := func(v float64) *float64 { return &v }
	for minute := range 30 {
		at := now.Add(time.Duration(minute-30) * time.Minute)
		for n, name := range []string{"orders/n1", "orders/n2"} {
			i := watch.Instance{
				Name: name, Cluster: "orders", Environment: "production", Engine: "mysql", Product: "MariaDB", Version: "11.4.5", Role: "replica", State: watch.Up,
				Throughput: value(float64(100 * (n + 1))), Commits: value(10), P99: value(0.01), Connections: value(40), Running: value(3),
				Load: &watch.Load{AAS: float64(n + 1)}, Channels: []watch.Channel{{Lag: value(2)}},
				IO: &watch.IO{IOPS: value(900), Limit: value(3000), Bucket: value(0.5), HoursToDry: value(7)}, Disk: &watch.Disk{Data: value(1e9), Free: value(9e9)},
			}
			for _, class := range watch.Classes {
				i.Load.Waits = append(i.Load.Waits, watch.Wait{Class: class, AAS: float64(n+1) / float64(len(watch.Classes))})
			}
			all = append(all, i.Document(at))
		}
	}
	return append(all,
		watch.Alert{Rule: "ReplicaLags", Instance: "orders/n2", Severity: "warning", State: "resolved", Summary: "orders/n2 is 42 s behind", Since: now.Add(-20 * time.Minute), Resolved: now.Add(-10 * time.Minute)}.Document(),
		watch.Change{At: now.Add(-25 * time.Minute), Instance: "orders/n1", Kind: "setting", What: "sync_binlog", From: "0", To: "1"}.Document())
}

// A real OpenSearch answers what every panel of the dashboards asks, with what a watch wrote into it: the aggregations of each
// visualization, and each saved search with its columns.
func dashboardsAsk(t *testing.T, s *realSearch) {
	o := opensearch(t, s.url, t.TempDir(), 1<<20)
	now := time.Now().Truncate(time.Second)
	for _, d := range fleetDocuments(now) {
		o.Add(d)
	}
	if err := o.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, dropped, rejected := o.Counts(); dropped+rejected > 0 {
		t.Fatalf("%d dropped, %d rejected", dropped, rejected)
	}
	if err := o.ask(t.Context(), http.MethodPost, "/plimsoll-watch/_refresh", "application/json", nil, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../examples/dashboards/opensearch/plimsoll.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var p panel
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		switch p.Type {
		case "visualization":
			asked++
			p.visualized(t, o)
		case "search":
			asked++
			p.searched(t, o)
		}
	}
	if asked < 14 {
		t.Errorf("only %d panels", asked)
	}
}

// query is the panel's query in the language of the search API: field:* asks for documents that have the field.
func (p panel) query(t *testing.T) map[string]any {
	t.Helper()
	var source struct{ Query struct{ Query string } }
	if err := json.Unmarshal([]byte(p.Attributes.Meta.SearchSourceJSON), &source); err != nil {
		t.Fatal(err)
	}
	if source.Query.Query == "" {
		return map[string]any{"match_all": map[string]any{}}
	}
	m := regexp.MustCompile(`^(\w+):\*$`).FindStringSubmatch(source.Query.Query)
	if m == nil {
		t.Fatalf("%s asks %q, which this test does not know", p.ID, source.Query.Query)
	}
	return map[string]any{"exists": map[string]any{"field": m[1]}}
}

// visualized asks as a visualization does: buckets in one another, in their order, and the metrics in the innermost.
func (p panel) visualized(t *testing.T, o *OpenSearch) {
	t.Helper()
	var v struct{ Aggs []aggregation }
	if err := json.Unmarshal([]byte(p.Attributes.VisState), &v); err != nil {
		t.Fatal(err)
	}
	isMetric := func(a aggregation) bool { return a.Schema == "metric" }
	counted := map[string]bool{} // metrics that are the number of documents, which every bucket has
	metrics := map[string]any{}
	for _, a := range v.Aggs {
		switch {
		case !isMetric(a):
		case a.Type == "count":
			counted[a.ID] = true
		default:
			metrics[a.ID] = map[string]any{a.Type: map[string]any{"field": a.Params.Field}}
		}
	}
	inner := metrics
	for _, a := range slices.Backward(slices.DeleteFunc(slices.Clone(v.Aggs), isMetric)) {
		of := map[string]any{"field": a.Params.Field}
		switch a.Type {
		case "terms":
			by := a.Params.OrderBy
			if counted[by] {
				by = "_count"
			} else { // what is ordered by stands in the bucket itself too
				inner = maps.Clone(inner)
				inner[by] = metrics[by]
			}
			of["size"], of["order"] = a.Params.Size, map[string]string{by: a.Params.Order}
		case "date_histogram":
			of["fixed_interval"], of["min_doc_count"] = "30s", 1 // what auto comes to over an hour
		default:
			t.Fatalf("%s has buckets by %s, which this test does not know", p.ID, a.Type)
		}
		inner = map[string]any{a.ID: map[string]any{a.Type: of, "aggs": inner}}
	}
	var answer struct {
		Shards       struct{ Failed int } `json:"_shards"`
		Aggregations map[string]any
	}
	p.search(t, o, map[string]any{"size": 0, "query": p.query(t), "aggs": inner}, &answer)
	for id := range metrics {
		if !shows(answer.Aggregations, id) {
			t.Errorf("%s: metric %s has no value anywhere: %v", p.ID, id, answer.Aggregations)
		}
	}
	if len(metrics) == 0 || answer.Shards.Failed > 0 {
		t.Errorf("%s has %d metrics, %d shards failed", p.ID, len(metrics), answer.Shards.Failed)
	}
}

// shows tells whether some bucket has a value of a metric.
func shows(in any, id string) bool {
	switch in := in.(type) {
	case map[string]any:
		for key, inner := range in {
			if m, is := inner.(map[string]any); is && key == id && m["value"] != nil || shows(inner, id) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(in, func(one any) bool { return shows(one, id) })
	}
	return false
}

// searched asks as a saved search does: the newest first, each of its columns in a document.
func (p panel) searched(t *testing.T, o *OpenSearch) {
	t.Helper()
	var answer struct {
		Hits struct {
			Hits []struct {
				Source map[string]any `json:"_source"`
			}
		}
	}
	p.search(t, o, map[string]any{"query": p.query(t), "sort": []any{map[string]any{"@timestamp": "desc"}}}, &answer)
	if len(answer.Hits.Hits) != 1 {
		t.Fatalf("%s finds %d documents, want 1", p.ID, len(answer.Hits.Hits))
	}
	for _, column := range p.Attributes.Columns {
		if answer.Hits.Hits[0].Source[column] == nil {
			t.Errorf("%s: no %s in %v", p.ID, column, answer.Hits.Hits[0].Source)
		}
	}
}

func (p panel) search(t *testing.T, o *OpenSearch, body map[string]any, into any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.ask(t.Context(), http.MethodPost, "/plimsoll-watch/_search", "application/json", text, into); err != nil {
		t.Errorf("%s: %v, asked %s", p.ID, err, text)
	}
}

// Every field of the documents can be summed up, sorted and searched for as the dashboards do, by the template alone: texts are keywords, whole numbers
// and others are doubles, so that the first document decides nothing.
func templateDecides(t *testing.T, s *realSearch) {
	o := opensearch(t, s.url, t.TempDir(), 1<<20)
	whole := fleetDocuments(time.Now())
	for _, d := range append([]watch.Document{{At: time.Now(), Fields: map[string]any{"aas": 1, "own": 7}}, {At: time.Now(), Fields: map[string]any{"own": 7.5}}}, whole...) {
		o.Add(d)
	}
	if err := o.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, rejected := o.Counts(); rejected > 0 {
		t.Errorf("%d rejected", rejected)
	}
	var caps struct {
		Fields map[string]map[string]struct{ Aggregatable, Searchable bool }
	}
	if err := o.ask(t.Context(), http.MethodGet, "/plimsoll-watch/_field_caps?fields=*", "application/json", nil, &caps); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"@timestamp": "date", "own": "double"}
	for _, d := range whole {
		for name, v := range d.Fields {
			if names[name] = "double"; strings.HasPrefix(fmt.Sprintf("%T", v), "string") {
				names[name] = "keyword"
			}
		}
	}
	for name, kind := range names {
		if c, is := caps.Fields[name][kind]; !is || !c.Aggregatable || !c.Searchable || len(caps.Fields[name]) != 1 {
			t.Errorf("%s is %+v, want %s", name, caps.Fields[name], kind)
		}
	}
}
