package store

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/value"

	"plimsoll/watch"
)

// opened is a store with a counter that rises by ten a second for a minute, of two instances, and a gauge of one.
func opened(t *testing.T, folder string) (*Store, time.Time) {
	t.Helper()
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test that cares closes it itself
	from := time.Now().Add(-time.Minute).Truncate(time.Second)
	for i := range 60 {
		at := from.Add(time.Duration(i) * time.Second)
		var all []watch.Sample
		for _, name := range []string{"a/n1", "a/n2"} {
			all = append(all, watch.Sample{Name: "mysql_global_status_questions", At: at, Value: float64(10 * i), Labels: []watch.Label{{Name: "instance", Value: name}}})
		}
		all = append(all, watch.Sample{Name: "up", At: at, Value: 1, Labels: []watch.Label{{Name: "instance", Value: "a/n1"}}})
		if err := s.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	return s, from
}

func TestAnswersPromQL(t *testing.T) {
	s, from := opened(t, t.TempDir())
	lines, err := s.Query(t.Context(), `sum(rate(mysql_global_status_questions[20s]))`, from.Add(30*time.Second), from.Add(50*time.Second), 10*time.Second)
	if err != nil || len(lines) != 1 || len(lines[0].Points) != 3 {
		t.Fatalf("%+v, %v", lines, err)
	}
	for _, p := range lines[0].Points {
		if math.Abs(p.Value-20) > 1e-9 {
			t.Errorf("a rate of %v, want 20", p.Value)
		}
	}
	v, err := s.Instant(t.Context(), `up`, from.Add(30*time.Second))
	if err != nil || v.Type != "vector" || len(v.Lines) != 1 || v.Lines[0].Labels["instance"] != "a/n1" || v.Lines[0].Points[0].Value != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := s.Query(t.Context(), `sum(`, from, from, time.Second); !errors.As(err, new(BadQuery)) {
		t.Errorf("half an expression: %v", err)
	}
}

func TestSelectsSamplesAndTellsLabels(t *testing.T) {
	s, from := opened(t, t.TempDir())
	to := from.Add(time.Minute)
	lines, err := s.Select(t.Context(), `mysql_global_status_questions{instance="a/n2"}`, from, to)
	if err != nil || len(lines) != 1 || len(lines[0].Points) != 60 || lines[0].Points[59].Value != 590 {
		t.Fatalf("%+v, %v", lines, err)
	}
	if values, err := s.LabelValues(t.Context(), "instance", []string{"up", "mysql_global_status_questions"}, from, to); err != nil || len(values) != 2 {
		t.Errorf("instances %v, %v", values, err)
	}
	if series, err := s.Series(t.Context(), nil, from, to); err != nil || len(series) != 3 {
		t.Errorf("series %v, %v", series, err)
	}
}

// What was written is there after the folder was opened again, also if its end is damaged.
func TestKeepsWhatWasWritten(t *testing.T) {
	folder := t.TempDir()
	s, from := opened(t, folder)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(folder, "wal", "0*"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log in %s: %v", folder, err)
	}
	f, err := os.OpenFile(logs[len(logs)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("torn"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }() // it was only read
	lines, err := again.Select(t.Context(), "up", from, from.Add(time.Minute))
	if err != nil || len(lines) != 1 || len(lines[0].Points) != 60 {
		t.Errorf("%+v, %v", lines, err)
	}
}

func TestAPointIsWhatPrometheusWrites(t *testing.T) {
	data, err := json.Marshal(Point{time.UnixMilli(1700000000500), 0.25})
	if err != nil || string(data) != `[1700000000.5,"0.25"]` {
		t.Errorf("%s, %v", data, err)
	}
	var p Point
	if err := json.Unmarshal(data, &p); err != nil || p.Value != 0.25 || p.At.UnixMilli() != 1700000000500 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Of an instance that does not answer the figures end, and it stays known that it does not.
func TestReadingsEndWithTheInstance(t *testing.T) {
	s, from := opened(t, t.TempDir())
	last := from.Add(59 * time.Second)
	ended, err := s.EndReadings(t.Context(), "a/n1", last.Add(500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if len(ended) != 1 || ended[0].Name != "mysql_global_status_questions" || !value.IsStaleNaN(ended[0].Value) || !slices.Contains(ended[0].Labels, watch.Label{Name: "instance", Value: "a/n1"}) {
		t.Errorf("other stores are told of %+v", ended)
	}
	v, err := s.Instant(t.Context(), `mysql_global_status_questions`, last.Add(time.Second))
	if err != nil || len(v.Lines) != 1 || v.Lines[0].Labels["instance"] != "a/n2" {
		t.Errorf("a figure is seen of an instance that does not answer: %+v, %v", v, err)
	}
	if v, err = s.Instant(t.Context(), `up`, last.Add(time.Second)); err != nil || len(v.Lines) != 1 || v.Lines[0].Labels["instance"] != "a/n1" {
		t.Errorf("that it does not answer is seen no more: %+v, %v", v, err)
	}
}

func TestTheSeriesOfAnInstanceThatLeftAreSeenNoMore(t *testing.T) {
	s, from := opened(t, t.TempDir())
	last := from.Add(59 * time.Second)
	if _, err := s.End(t.Context(), "a/n1", last.Add(500*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	v, err := s.Instant(t.Context(), `up`, last.Add(time.Second))
	if err != nil || len(v.Lines) != 0 {
		t.Errorf("it is seen still: %+v, %v", v, err)
	}
	if v, err = s.Instant(t.Context(), `up`, last); err != nil || len(v.Lines) != 1 {
		t.Errorf("what it was before is lost: %+v, %v", v, err)
	}
	v, err = s.Instant(t.Context(), `mysql_global_status_questions`, last.Add(time.Second))
	if err != nil || len(v.Lines) != 1 || v.Lines[0].Labels["instance"] != "a/n2" {
		t.Errorf("those of another are seen as %+v, %v", v, err)
	}
}
