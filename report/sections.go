package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/result"

	"plimsoll/report/chart"
)

func (p *page) compare(c comparison, all []*run, d detail) {
	s := &comparisonSection{Lead: c.lead(), Tables: c.tables()}
	if c.Factor == "" {
		s.Rankings = c.rankings()
	} else {
		if len(c.measured("throughput")) > 0 {
			s.Figures = append(s.Figures, p.curves("curve-throughput", "Throughput, operations per second", plotted{Views: []chart.Chart{c.curve("throughput")}}))
		}
		if metrics := c.measured(percentiles...); len(metrics) > 0 {
			data := plotted{First: max(slices.Index(metrics, "response_p99"), 0)}
			for _, m := range metrics {
				v := c.curve(m)
				v.Title = strings.TrimSuffix(called(m), " response")
				data.Views = append(data.Views, v)
			}
			s.Figures = append(s.Figures, p.curves("curve-latency", "Response time", data))
		}
	}
	s.Steady = newSteadiness(c, all, max(min(d.spark/max(len(all), 1), 60), 8))
	p.Comparison = s
}

// curves is a figure whose bands are intervals; it says so where it cannot show one whole.
func (p *page) curves(id, caption string, d plotted) figure {
	f := p.figure(id, caption, d, half)
	if slices.ContainsFunc(d.Views, chart.Chart.Cut) {
		f.Note = "A band that is cut off continues: the interval is wider than the picture. A value without a band has an unbounded interval: too little was measured."
	}
	return f
}

func (p *page) overTime(all []*run, beside besides, d detail) {
	const most = 60
	if len(all) > most {
		p.MoreRuns, all = len(all)-most, all[:most]
	}
	points := max(min(d.timeline/max(len(all), 1), 600), 40)
	for i, u := range all {
		t, here := newTimeline(u, points), beside.at(u)
		s := timelineSection{Lead: append(u.lead(), here.remarks()...), Phases: u.phaseTable(), Dips: u.dipTable(), Beside: here.tables(u), Events: eventTable(u.Events, u.Start, max(min(d.events/len(all), 200), 5))}
		if len(all) > 1 || u.Cell != "" {
			s.Name = u.Name()
		}
		sync := fmt.Sprintf("run%d", i)
		note := ""
		if t.coarse() {
			note = fmt.Sprintf("Each point stands for %s: for throughput its mean, with a band from its slowest to its fastest second; for latency its worst second, with a band down to its best.", seconds(int(t.grid.Width)))
		}
		s.Figures = append(s.Figures, p.figure(sync+"-throughput", "Throughput, operations per second", plotted{Views: []chart.Chart{here.throughput(t)}, Sync: sync}, wide))
		data := plotted{First: 2, Sync: sync}
		for _, name := range []string{"p50", "p95", "p99", "p99.9"} {
			v := here.latency(t, name)
			v.Title = name
			data.Views = append(data.Views, v)
		}
		f := p.figure(sync+"-latency", "Response and service time", data, wide)
		f.Note = note
		s.Figures = append(s.Figures, f)
		p.Timelines = append(p.Timelines, s)
	}
}

// overAll is the word of the figures of what a watch recorded, which move their cursors together.
const overAll = "recorded"

// linesByVariant is the fewest points of all signals together at which each variant has a line and bands of its own.
const linesByVariant = 800

func (p *page) signals(r *result.Result, all []*run, d detail) {
	if len(r.Signals) == 0 {
		return
	}
	start, end := r.Environment.Started, r.Environment.Ended
	sync := "signals"
	var phases []chart.Span
	var events []chart.Mark
	switch {
	case p.Recorded != nil: // of all instances at the same time
		sync, events = overAll, p.Recorded.Curve.Marks
	case len(all) == 1: // on the same clock as the run
		start, end, sync = all[0].Start, all[0].End, "run0"
		phases, events = spans(all[0].Phases, start), moments(all[0].Events, start)
	}
	var of variants
	if p.Recorded == nil && len(all) > 1 && d.signal >= linesByVariant { // a page that has become too large is drawn without
		of = newVariants(r, all)
		phases = of.bands(start)
	}
	if !end.After(start) {
		end = r.Signals[len(r.Signals)-1].Time
	}
	distinct := map[string]bool{}
	for _, s := range r.Signals {
		distinct[s.Signal+" "+s.Node] = true
	}
	for _, g := range signalGroups(r.Signals, start, end, max(min(d.signal/len(distinct), 240), 12), of) {
		s := signalSection{Name: g.Name, Still: strings.Join(g.Still, ", ")}
		for i, one := range g.Signals {
			one.Chart.Spans, one.Chart.Marks = phases, events
			s.Figures = append(s.Figures, p.figure(fmt.Sprintf("signal-%s-%d", cmp.Or(g.Name, "other"), i), one.Name, plotted{Views: []chart.Chart{one.Chart}, Sync: sync, Small: true}, small))
		}
		p.Signals = append(p.Signals, s)
	}
}
