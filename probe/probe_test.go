package probe

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/engine"
	"plimsoll/series"
)

func TestRatesNeedTwoReadingsAndForgetARestart(t *testing.T) {
	var r rates
	start := time.Unix(0, 0)
	read := func(at time.Duration, value float64) (float64, bool) {
		return r.rate("x", value, r.begin(start.Add(at)))
	}
	if _, ok := read(0, 100); ok {
		t.Error("a first reading has no rate")
	}
	if got, ok := read(2*time.Second, 160); !ok || got != 30 {
		t.Errorf("got %v, want 30 per second", got)
	}
	if _, ok := read(3*time.Second, 5); ok {
		t.Error("a counter that fell has no rate")
	}
	if got, ok := read(4*time.Second, 6); !ok || got != 1 {
		t.Errorf("after the restart: got %v, want 1", got)
	}
}

func TestSharesAreOfWhatCame(t *testing.T) {
	var r rates
	start := time.Unix(0, 0)
	read := func(at time.Duration, part, whole float64) (float64, bool) {
		return r.share("x", part, whole, r.begin(start.Add(at)))
	}
	if _, ok := read(0, 90, 100); ok {
		t.Error("a first reading has no share")
	}
	if got, ok := read(time.Second, 95, 120); !ok || got != 0.25 {
		t.Errorf("got %v, want a quarter", got)
	}
	if _, ok := read(2*time.Second, 95, 120); ok {
		t.Error("a share of nothing")
	}
	if got, ok := read(3*time.Second, 105, 125); !ok || got != 1 {
		t.Errorf("got %v, want no more than all", got)
	}
	if _, ok := read(4*time.Second, 1, 10); ok {
		t.Error("counters that fell have no share")
	}
}

func TestCPUSecondsSurvivesOddNames(t *testing.T) {
	stat := []byte("42 (my) sql) d) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 30 0 12345 1000 200")
	if got, err := cpuSeconds(stat); err != nil || got != 2 {
		t.Errorf("got %v, %v, want 2 s", got, err)
	}
	if _, err := cpuSeconds([]byte("42 (x) S 1")); err == nil {
		t.Error("a short line was accepted")
	}
}

// status is a database that only shows numbers: the form of a reading is tested here, real servers in engine/mysql.
type status struct {
	engine.Database
	read func() ([]engine.Reading, error)
}

func (s status) Readings(context.Context) ([]engine.Reading, error)  { return s.read() }
func (status) PendingWork(context.Context) ([]engine.Pending, error) { return nil, nil }

func TestCollectTellsOfAFailureOnceAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0.0
		db := status{read: func() ([]engine.Reading, error) {
			if n++; n == 3 || n == 4 {
				return nil, errors.New("gone")
			}
			return []engine.Reading{{Signal: "rows", Value: 10 * n, Counter: true}, {Signal: "threads", Value: n}}, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 6500*time.Millisecond)
		defer cancel()
		var rows []float64
		failures := 0
		Collect(ctx, time.Second, []Probe{NewStatus("n1", db)}, func(got []series.Point) {
			for _, p := range got {
				if p.Signal == "rows" {
					rows = append(rows, p.Value)
				}
			}
		}, func(error) { failures++ })
		if failures != 1 {
			t.Errorf("told of %d failures, want 1 for one outage", failures)
		}
		if !slices.Equal(rows, []float64{10, 10, 10, 10}) {
			t.Errorf("rates %v, want 10 per second throughout", rows)
		}
	})
}
