package web

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/store"
)

// A point of the curve of commits is the time of all its commits over their number: after two minutes of 654 commits of 4 ms in ten seconds and two of one
// commit of a second, the mean of the readings' means would be half a second.
func TestTheCurveOfCommitsIsOverAllOfThem(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the test has ended
	now := time.Now().Truncate(10 * time.Second)
	took, commits := 0.0, 0.0
	for i := range 25 {
		var all []watch.Sample
		for name, v := range map[string]float64{"plimsoll_commit_part_seconds_total": took, "plimsoll_commit_parts_total": commits} {
			all = append(all, watch.Sample{Name: name, At: now.Add(time.Duration(i-24) * 10 * time.Second), Value: v, Labels: []watch.Label{{Name: "instance", Value: "a/n1"}, {Name: "part", Value: "total"}}})
		}
		if err := s.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if more := 654.0; i < 12 {
			took, commits = took+0.004*more, commits+more
		} else {
			took, commits = took+1, commits+1
		}
	}
	at := slices.IndexFunc(curvesOf, func(c curve) bool { return c.key == "commit" })
	want := (12*654*0.004 + 12) / (12*654 + 12)
	for of, expr := range map[string]string{"the page": curvesOf[at].expr(`"a/n1"`, windows{slow: "245s"}), "the dashboard": commitsOfTheDashboard(t)} {
		lines, err := s.Query(t.Context(), expr, now, now, time.Minute)
		if err != nil || len(lines) != 1 || lines[0].Labels["part"] != "total" {
			t.Fatalf("%s: %+v, %v", of, lines, err)
		}
		if got := lines[0].Points; len(got) != 1 || math.Abs(got[0].Value-want) > 1e-6 {
			t.Errorf("%s: %+v, want %v", of, got, want)
		}
	}
}

// commitsOfTheDashboard is what Grafana's panel about commits asks for, at the same period.
func commitsOfTheDashboard(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../examples/dashboards/grafana/instance.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		if p.Title == "Time of a commit, by part" {
			return strings.NewReplacer("$__rate_interval", "245s", "$instance", "a/n1").Replace(p.Targets[0].Expr)
		}
	}
	t.Fatal("the dashboard has no panel about commits")
	return ""
}
