package report

import (
	"math"
	"testing"
	"time"

	"plimsoll/report/quantity"
	"plimsoll/series"
)

func TestSignalGroups(t *testing.T) {
	start := time.Unix(1000, 0)
	var points []series.Point
	for i := range 600 {
		at := start.Add(time.Duration(i) * time.Second)
		v := 10.0
		if i == 333 {
			v = 900
		}
		points = append(points,
			series.Point{Time: at, Signal: "mysql.threads_running", Node: "n1", Value: v},
			series.Point{Time: at, Signal: "mysql.threads_running", Node: "n2", Value: float64(i)},
			series.Point{Time: at, Signal: "mysql.pool_pages", Node: "n1", Value: 42},
			series.Point{Time: at, Signal: "load.cpu_share", Value: 0.2 + float64(i)/1e4})
		if i%10 == 0 {
			points = append(points, series.Point{Time: at, Signal: "host.disk_read_bytes_per_second", Node: "n1", Value: float64(i)})
		}
	}
	groups := signalGroups(points, start, start.Add(600*time.Second), 100, variants{})
	if len(groups) != 3 || groups[0].Name != "host" || groups[1].Name != "mysql" || groups[2].Name != "load" {
		t.Fatalf("groups %+v", groups)
	}
	if groups[0].Signals[0].Unit != quantity.BytesPerSecond || groups[0].Signals[0].Name != "disk read" {
		t.Errorf("the disk's signal is %q in %q", groups[0].Signals[0].Name, groups[0].Signals[0].Unit)
	}
	for _, v := range groups[0].Signals[0].Chart.Lines[0].Values {
		if math.IsNaN(v) {
			t.Error("a signal read every ten seconds has gaps")
			break
		}
	}
	if len(groups[1].Still) != 1 || groups[1].Still[0] != "pool pages 42" {
		t.Errorf("still: %q", groups[1].Still)
	}
	running := groups[1].Signals[0].Chart
	if len(running.Lines) != 2 || len(running.Xs) > 100 {
		t.Fatalf("%d lines of %d points", len(running.Lines), len(running.Xs))
	}
	highest := 0.0
	for _, v := range running.Lines[0].High {
		highest = max(highest, v)
	}
	if highest != 900 {
		t.Errorf("the spike of one second is %v, want 900", highest)
	}
}

func TestGuardTable(t *testing.T) {
	got := guardTable([]series.Point{{Signal: "load.cpu_share", Value: 0.2}, {Signal: "load.cpu_share", Value: 0.6}, {Signal: "mysql.x", Value: 1}})
	if len(got.Rows) != 1 || got.Rows[0].Head != "cpu" || got.Rows[0].Cells[0].Value != quantity.Share.Format(0.4) || got.Rows[0].Cells[1].Value != quantity.Share.Format(0.6) {
		t.Errorf("%+v", got)
	}
}
