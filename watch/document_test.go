package watch

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
)

// saved is an object as OpenSearch Dashboards exports and imports it, one on a line.
type saved struct {
	Type, ID   string
	Attributes struct {
		Title, VisState, PanelsJSON string
		TimeFieldName               string
		Columns                     []string
		Meta                        struct {
			SearchSourceJSON string
		} `json:"kibanaSavedObjectMeta"`
	}
	References []struct{ Name, Type, ID string }
}

// writtenFields are those of the documents: of an instance of which everything is known, of alerts, and of changes.
func writtenFields() []string {
	one := new(float64)
	i := Instance{
		Throughput: one, Commits: one, P99: one, Connections: one, Running: one, Load: &Load{}, Channels: []Channel{{Lag: one}},
		IO: &IO{IOPS: one, Limit: one, Bucket: one, HoursToDry: one}, Disk: &Disk{Data: one, Free: one},
	}
	for _, class := range Classes {
		i.Load.Waits = append(i.Load.Waits, Wait{Class: class})
	}
	fields := []string{"@timestamp"}
	for _, d := range []Document{i.Document(time.Time{}), Alert{}.Document(), Change{}.Document()} {
		for name := range d.Fields {
			fields = append(fields, name)
		}
	}
	return fields
}

// The dashboards for OpenSearch are whole: what refers to something finds it, panels do not lie over one another or beside the screen, and
// every field is one that is written. No OpenSearch Dashboards imports them here; what they ask is asked of a real OpenSearch in watch/sink.
func TestDashboardsOfOpenSearchAreWhole(t *testing.T) {
	data, err := os.ReadFile("../examples/dashboards/opensearch/plimsoll.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]saved{}
	fields := writtenFields()
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var o saved
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, r := range o.References { // what comes first is there when it is imported
			if _, there := objects[r.Type+" "+r.ID]; !there {
				t.Errorf("%s refers to %s %s, which is not there", o.ID, r.Type, r.ID)
			}
		}
		if _, twice := objects[o.Type+" "+o.ID]; twice || o.ID == "" || o.Attributes.Title == "" {
			t.Errorf("%s %q, %q: there twice, or without a name", o.Type, o.ID, o.Attributes.Title)
		}
		objects[o.Type+" "+o.ID] = o
		check := map[string]func(*testing.T, saved, []string){"index-pattern": checkPattern, "visualization": checkVisualization, "search": checkSearch, "dashboard": checkBoard}[o.Type]
		if check == nil {
			t.Errorf("%s is a %s", o.ID, o.Type)
			continue
		}
		check(t, o, fields)
	}
	if len(objects) < 15 {
		t.Errorf("only %d objects", len(objects))
	}
}

func checkPattern(t *testing.T, o saved, _ []string) {
	if o.Attributes.Title != "plimsoll-watch" || o.Attributes.TimeFieldName != "@timestamp" {
		t.Errorf("the pattern is %+v", o.Attributes)
	}
}

func checkVisualization(t *testing.T, o saved, fields []string) {
	var v struct {
		Type string
		Aggs []struct {
			ID, Type, Schema string
			Params           struct{ Field string }
		}
	}
	if err := json.Unmarshal([]byte(o.Attributes.VisState), &v); err != nil || len(v.Aggs) < 2 || !slices.Contains([]string{"line", "area", "table"}, v.Type) {
		t.Fatalf("%s: %+v, %v", o.ID, v, err)
	}
	for n, a := range v.Aggs {
		if a.Type != "count" && !slices.Contains(fields, a.Params.Field) {
			t.Errorf("%s asks for the field %q, which nobody writes", o.ID, a.Params.Field)
		}
		if !slices.Contains([]string{"metric", "segment", "group", "bucket"}, a.Schema) || a.ID == "" || a.ID != string(rune('1'+n)) && n < 9 {
			t.Errorf("%s: aggregation %d is %+v", o.ID, n, a)
		}
	}
	checkSource(t, o, fields)
}

func checkSearch(t *testing.T, o saved, fields []string) {
	for _, column := range o.Attributes.Columns {
		if !slices.Contains(fields, column) {
			t.Errorf("%s shows the field %q, which nobody writes", o.ID, column)
		}
	}
	checkSource(t, o, fields)
}

func checkSource(t *testing.T, o saved, fields []string) {
	var source struct {
		IndexRefName string
		Query        struct{ Query string }
	}
	if err := json.Unmarshal([]byte(o.Attributes.Meta.SearchSourceJSON), &source); err != nil || len(o.References) != 1 || o.References[0].Name != source.IndexRefName {
		t.Errorf("%s has no pattern: %+v, %v", o.ID, source, err)
	}
	if m := regexp.MustCompile(`^(\w+):\*$`).FindStringSubmatch(source.Query.Query); source.Query.Query != "" && (m == nil || !slices.Contains(fields, m[1])) {
		t.Errorf("%s looks for %q", o.ID, source.Query.Query)
	}
}

func checkBoard(t *testing.T, o saved, _ []string) {
	var panels []struct {
		GridData     struct{ X, Y, W, H int }
		PanelRefName string
	}
	if err := json.Unmarshal([]byte(o.Attributes.PanelsJSON), &panels); err != nil || len(panels) != len(o.References) {
		t.Fatalf("%s: %d panels, %d references, %v", o.ID, len(panels), len(o.References), err)
	}
	for n, p := range panels {
		if p.PanelRefName != o.References[n].Name || p.GridData.X+p.GridData.W > 48 {
			t.Errorf("%s: panel %d is %+v", o.ID, n, p)
		}
		for _, other := range panels[:n] {
			a, b := p.GridData, other.GridData
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s: panels %s and %s lie over one another", o.ID, p.PanelRefName, other.PanelRefName)
			}
		}
	}
}
