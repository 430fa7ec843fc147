package report

import (
	"math"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
)

// timeline is a run drawn over time, in buckets that are no more than can be seen.
type timeline struct {
	run  *run
	grid chart.Grid
	rows [][]result.Row // of each bucket, all of them parts of the run's
}

func newTimeline(u *run, points int) timeline {
	t := timeline{run: u, grid: chart.NewGrid(0, u.End.Sub(u.Start).Seconds(), points)}
	t.rows = make([][]result.Row, t.grid.Count)
	for from := 0; from < len(u.rows); {
		i, ok := t.grid.Index(u.rows[from].Time.Sub(u.Start).Seconds())
		to := from + 1
		for to < len(u.rows) {
			if next, _ := t.grid.Index(u.rows[to].Time.Sub(u.Start).Seconds()); next != i {
				break
			}
			to++
		}
		if ok {
			t.rows[i] = u.rows[from:to]
		}
		from = to
	}
	return t
}

// throughput draws the mean of each bucket, in a band from its slowest to its fastest second.
func (t timeline) throughput() chart.Chart {
	c := t.frame("Throughput", chart.Axis{Unit: quantity.PerSecond, Zero: true})
	c.Trouble = t.problems()
	c.Lines = []chart.Line{t.line("throughput", 1, func(row *result.Row) float64 {
		return float64(row.Done+row.Late) / length(row)
	}, chart.Bucket.Mean)}
	return c
}

// latency draws a percentile of the response and the service time: the worst second of each bucket, because percentiles
// cannot be averaged.
func (t timeline) latency(percentile string, beside ...chart.Line) chart.Chart {
	c := t.frame(percentile+" latency", chart.Axis{Unit: quantity.Milliseconds})
	c.Lines = append([]chart.Line{
		t.line("response", 2, func(row *result.Row) float64 { return pick(percentile, &row.Response) }, highest),
		t.line("service", 0, func(row *result.Row) float64 { return pick(percentile, &row.Service) }, highest),
	}, beside...)
	low, high := math.Inf(1), 0.0
	for _, l := range c.Lines {
		for _, v := range l.Values {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	c.Y.Log = high > 20*low
	c.Y.Zero = !c.Y.Log
	return c
}

func highest(b chart.Bucket) float64 { _, high := b.Range(); return high }

// pick is a percentile in milliseconds, a gap where nothing ended.
func pick(percentile string, l *result.Latency) float64 {
	d := l.P99
	switch percentile {
	case "p50":
		d = l.P50
	case "p95":
		d = l.P95
	case "p99.9":
		d = l.P999
	}
	if d <= 0 {
		return math.NaN()
	}
	return ms(d)
}

// line reduces a value of every row to one per bucket, with the range where a bucket holds more than one second.
func (t timeline) line(name string, ink int, value func(*result.Row) float64, reduce func(chart.Bucket) float64) chart.Line {
	l := chart.Line{Name: name, Ink: ink, Values: make(chart.Values, t.grid.Count)}
	if t.coarse() {
		l.Low, l.High = make(chart.Values, t.grid.Count), make(chart.Values, t.grid.Count)
	}
	for i, rows := range t.rows {
		var b chart.Bucket
		for j := range rows {
			row := &rows[j]
			if length(row) < sliver && (len(rows) > 1 || i == t.grid.Count-1) {
				continue
			}
			b.Add(value(row), length(row))
		}
		l.Values[i] = reduce(b)
		if t.coarse() {
			l.Low[i], l.High[i] = b.Range()
		}
	}
	return l
}

// sliver is the length in seconds under which what ended in an interval says little about a rate.
const sliver = 0.3

// coarse tells whether a point stands for more than a second.
func (t timeline) coarse() bool { return t.grid.Width > 1 }

// length is how long a row counted, in seconds.
func length(row *result.Row) float64 {
	if row.Length <= 0 {
		return 1
	}
	return row.Length.Seconds()
}

// frame is a chart over the run's time with its phases and events.
func (t timeline) frame(title string, y chart.Axis) chart.Chart {
	return chart.Chart{
		Title: title, X: chart.Axis{Unit: quantity.Elapsed, To: t.run.End.Sub(t.run.Start).Seconds()}, Y: y,
		Xs: t.grid.Xs(), Spans: spans(t.run.Phases, t.run.Start), Marks: moments(t.run.Events, t.run.Start),
	}
}

// problems lists the buckets in which operations failed.
func (t timeline) problems() chart.Values {
	var at chart.Values
	xs := t.grid.Xs()
	for i, rows := range t.rows {
		for j := range rows {
			if rows[j].Errors > 0 {
				at = append(at, xs[i])
				break
			}
		}
	}
	return at
}

func spans(phases []result.Phase, start time.Time) []chart.Span {
	all := make([]chart.Span, len(phases))
	for i, p := range phases {
		all[i] = chart.Span{From: p.From.Sub(start).Seconds(), To: p.To.Sub(start).Seconds(), Name: shortName(p), Tint: tint(p)}
	}
	return all
}

// shortName is a phase's name; a step's within its phase.
func shortName(p result.Phase) string {
	if p.Of == "" {
		return p.Name
	}
	return strings.TrimPrefix(p.Name, p.Of+"/")
}
