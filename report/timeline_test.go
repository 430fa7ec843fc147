package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/result"

	"plimsoll/report/chart"
	"plimsoll/report/reporttest"
	"plimsoll/series"
)

// day is a run of 24 hours with one second in which nothing was done, and one whose p99 was 9 s.
func day() *result.Result {
	start := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	r := &result.Result{Environment: result.Environment{Started: start, Ended: start.Add(24 * time.Hour)}}
	for i := range 86400 {
		row := result.Row{Time: start.Add(time.Duration(i) * time.Second), Round: 1, Phase: "measure", Operation: "all", Length: time.Second}
		row.Tally = series.Tally{Scheduled: 1000, Done: 1000}
		row.Response.P99, row.Service.P99 = 5*time.Millisecond, 4*time.Millisecond
		switch i {
		case 40000:
			row.Tally = series.Tally{Scheduled: 10, Errors: 10}
			row.Response, row.Service = result.Latency{}, result.Latency{}
		case 70000:
			row.Response.P99 = 9 * time.Second
		}
		r.Seconds = append(r.Seconds, row)
	}
	return r
}

func TestTimelineKeepsSpikes(t *testing.T) {
	u := runs(day())[0]
	line := newTimeline(u, 600)
	if n := len(line.throughput().Xs); n > 600 {
		t.Fatalf("%d points", n)
	}
	rate, lowest := line.throughput(), math.Inf(1)
	for _, v := range rate.Lines[0].Low {
		lowest = min(lowest, v)
	}
	if lowest != 0 || len(rate.Trouble) != 1 {
		t.Errorf("the second without throughput is lost: lowest %v, trouble %v", lowest, rate.Trouble)
	}
	latency, highest := line.latency("p99"), 0.0
	for _, v := range latency.Lines[0].Values {
		highest = max(highest, v)
	}
	if highest != 9000 {
		t.Errorf("the worst p99 is %v ms, want 9000", highest)
	}
	if !latency.Y.Log {
		t.Error("9 s over 5 ms is not drawn on a log axis")
	}
}

func TestTimelineLeavesASecondWithoutOperationsOut(t *testing.T) {
	r := day()
	r.Seconds = r.Seconds[39990:40010]
	c := newTimeline(runs(r)[0], 600).latency("p99")
	if !math.IsNaN(c.Lines[0].Values[10]) || math.IsNaN(c.Lines[0].Values[9]) {
		t.Errorf("p99 around the second without operations: %v", c.Lines[0].Values[8:13])
	}
}

func TestTimelineIgnoresSlivers(t *testing.T) {
	r := day()
	r.Seconds = r.Seconds[:10]
	last := r.Seconds[9]
	last.Time, last.Length, last.Done = last.Time.Add(time.Second), 10*time.Millisecond, 0
	r.Seconds = append(r.Seconds, last)
	values := newTimeline(runs(r)[0], 600).throughput().Lines[0].Values
	if got := values[len(values)-1]; !math.IsNaN(got) {
		t.Errorf("ten milliseconds at the end make a rate of %v", got)
	}
}

func TestRunsAreCutByCellAndRound(t *testing.T) {
	all := runs(reporttest.Comparison())
	if len(all) != 54 {
		t.Fatalf("%d runs, want 54", len(all))
	}
	for i, u := range all {
		if len(u.rows) != 90 || len(u.Phases) != 2 {
			t.Errorf("run %s has %d rows and %d phases", u.Name(), len(u.rows), len(u.Phases))
		}
		if i > 0 && u.Start.Before(all[i-1].Start) {
			t.Errorf("run %s stands before its time", u.Name())
		}
	}
}

func TestRunsWithoutAVerdictHaveThePhasesOfTheirRows(t *testing.T) {
	u := runs(reporttest.CutOff())[0]
	var got []string
	for _, p := range u.Phases {
		got = append(got, p.Name)
	}
	if want := "warmup baseline lab/freeze recovery"; strings.Join(got, " ") != want {
		t.Errorf("phases %q, want %q", got, want)
	}
	if tint(u.Phases[2]) != chart.Disturbed || tint(u.Phases[3]) != chart.Recovery {
		t.Error("the freeze or the recovery is not seen as one")
	}
}

func TestCondenseSumsErrorsOfNeighbours(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	got := condense([]series.Event{
		{Time: at(1), Kind: "node.stop"},
		{Time: at(1), Kind: "load.errors", Detail: map[string]any{"lost": int64(32)}},
		{Time: at(2), Kind: "load.errors", Detail: map[string]any{"lost": float64(8), "timeout": float64(1)}},
		{Time: at(3), Kind: "node.start"},
		{Time: at(3), Kind: "load.errors", Detail: map[string]any{"lost": float64(1)}},
		{Time: at(60), Kind: "load.errors", Detail: map[string]any{"lost": float64(2)}},
	})
	if len(got) != 4 {
		t.Fatalf("%d events: %v", len(got), got)
	}
	if d := details(got[1].Detail); d != "3\u202fs, lost 41, timeout 1" {
		t.Errorf("the sum is %q", d)
	}
	if len(moments(got, at(0))) != 2 {
		t.Errorf("marks %v, want the stop and the start", moments(got, at(0)))
	}
}

func TestARehearsalThatDoesNotCountNeitherPassedNorFailed(t *testing.T) {
	if d := details(map[string]any{"run": "r1", "passed": false, "nothing": "its trial was INVALID"}); d != "does not count: its trial was INVALID, run r1" {
		t.Errorf("it reads %q", d)
	}
	if d := details(map[string]any{"run": "r1", "passed": false}); d != "did not pass, run r1" {
		t.Errorf("one that failed reads %q", d)
	}
	if d := details(map[string]any{"run": "r1", "passed": true}); d != "passed, run r1" {
		t.Errorf("one that passed reads %q", d)
	}
}
