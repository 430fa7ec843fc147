package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/trial"
)

// page is report.html before it is written: every number is already text, every picture already drawn once.
type page struct {
	Verdict trial.Verdict
	Name    string
	Answer  string // the verdict's word
	Class   string // of it, for the style sheet
	Sign    string
	Meaning string
	Reasons []string
	Date    string
	Engine  string
	Claims  []claim
	Judged  bool // at least one claim has an interval to show

	Comparison *comparisonSection
	Timelines  []timelineSection
	MoreRuns   int // runs that are too many to draw
	Signals    []signalSection
	Operations []table

	Facts    []fact
	Settings table
	Guard    table
	Method   []string
	Source   string

	Figures map[string]plotted // what uPlot draws, by the figure's id
}

type comparisonSection struct {
	Lead     []remark
	Figures  []figure
	Rankings []ranking
	Tables   []table
	Steady   steadiness
}

type timelineSection struct {
	Name    string
	Lead    []remark
	Figures []figure
	Phases  table
	Events  table
}

type signalSection struct {
	Name    string
	Figures []figure
	Still   string
}

// figure is a chart with its controls. Static is what print and browsers without scripts show.
type figure struct {
	ID      string
	Caption string
	Note    string
	Choices []string // names of the views, if there is a choice
	Chosen  int
	Log     bool // offers a log axis
	Pressed bool // and begins with it
	Static  template.HTML
}

// plotted is a figure's data.
type plotted struct {
	Views []chart.Chart `json:"views"`
	First int           `json:"first"`          // which view is shown to begin with
	Sync  string        `json:"sync,omitempty"` // figures of the same word move their cursors together
	Small bool          `json:"small,omitempty"`
}

// detail is how many points long series are reduced to.
type detail struct{ timeline, signal, spark int }

// newPage draws a result with as much detail as is asked for, shared out among its pictures.
func newPage(r *trial.Result, d detail) *page {
	p := &page{
		Verdict: r.Verdict, Name: name(r), Answer: answer(r.Verdict), Class: strings.ToLower(string(r.Verdict.Verdict)), Sign: sign(r.Verdict.Verdict), Meaning: meaning(r.Verdict), Reasons: reasons(r.Verdict),
		Date: moment(r.Environment.Started), Engine: list(map[string]string{"product": r.Environment.Engine["product"], "version": r.Environment.Engine["version"]}, "product", "version"),
		Claims: claims(r.Verdict), Judged: slices.ContainsFunc(r.Verdict.Claims, judged), Operations: operationTables(r),
		Facts: facts(r.Environment), Settings: settingsTable(r.Environment, r.Verdict.Cells), Guard: guardTable(r.Signals),
		Method: method(r), Source: r.Source, Figures: map[string]plotted{},
	}
	if onlyAll(p.Operations) {
		p.Operations = nil
	}
	all := runs(r)
	c, compares := newComparison(r.Verdict.Cells)
	if compares {
		p.compare(c, all, d)
	}
	if !compares || disturbed(r) {
		p.overTime(all, d)
	}
	p.signals(r, all, d)
	return p
}

func (p *page) compare(c comparison, all []*run, d detail) {
	s := &comparisonSection{Lead: c.lead(), Tables: c.tables()}
	if c.Factor == "" {
		s.Rankings = c.rankings()
	} else {
		if len(c.measured("throughput")) > 0 {
			s.Figures = append(s.Figures, p.figure("curve-throughput", "Throughput, operations per second", plotted{Views: []chart.Chart{c.curve("throughput")}}, half))
		}
		if metrics := c.measured(percentiles...); len(metrics) > 0 {
			data := plotted{First: max(slices.Index(metrics, "response_p99"), 0)}
			for _, m := range metrics {
				v := c.curve(m)
				v.Title = strings.TrimSuffix(title(m), " response")
				data.Views = append(data.Views, v)
			}
			s.Figures = append(s.Figures, p.figure("curve-latency", "Response time", data, half))
		}
	}
	s.Steady = newSteadiness(c, all, max(min(d.spark/max(len(all), 1), 60), 8))
	p.Comparison = s
}

func (p *page) overTime(all []*run, d detail) {
	const most = 60
	if len(all) > most {
		p.MoreRuns, all = len(all)-most, all[:most]
	}
	points := max(min(d.timeline/max(len(all), 1), 600), 40)
	for i, u := range all {
		t := newTimeline(u, points)
		s := timelineSection{Lead: u.lead(), Phases: u.phaseTable(), Events: eventTable(u.Events, u.Start)}
		if len(all) > 1 || u.Cell != "" {
			s.Name = u.Name()
		}
		sync := fmt.Sprintf("run%d", i)
		note := ""
		if t.coarse() {
			note = fmt.Sprintf("Each point stands for %s: for throughput its mean, with a band from its slowest to its fastest second; for latency its worst second, with a band down to its best.", seconds(int(t.grid.Width)))
		}
		s.Figures = append(s.Figures, p.figure(sync+"-throughput", "Throughput, operations per second", plotted{Views: []chart.Chart{t.throughput()}, Sync: sync}, wide))
		data := plotted{First: 2, Sync: sync}
		for _, name := range []string{"p50", "p95", "p99", "p99.9"} {
			v := t.latency(name)
			v.Title = name
			data.Views = append(data.Views, v)
		}
		f := p.figure(sync+"-latency", "Response and service time", data, wide)
		f.Note = note
		s.Figures = append(s.Figures, f)
		p.Timelines = append(p.Timelines, s)
	}
}

func (p *page) signals(r *trial.Result, all []*run, d detail) {
	if len(r.Signals) == 0 {
		return
	}
	start, end := r.Environment.Started, r.Environment.Ended
	sync := "signals"
	var over []chart.Span
	var events []chart.Mark
	if len(all) == 1 { // on the same clock as the run
		start, end, sync = all[0].Start, all[0].End, "run0"
		over, events = spans(all[0].Phases, start), moments(all[0].Events, start)
	} else {
		over = roundSpans(r, all)
	}
	if !end.After(start) {
		end = r.Signals[len(r.Signals)-1].Time
	}
	distinct := map[string]bool{}
	for _, s := range r.Signals {
		distinct[s.Signal+" "+s.Node] = true
	}
	for _, g := range signalGroups(r.Signals, start, end, max(min(d.signal/len(distinct), 240), 24)) {
		s := signalSection{Name: g.Name, Still: strings.Join(g.Still, ", ")}
		for i, one := range g.Signals {
			one.Chart.Spans, one.Chart.Marks = over, events
			s.Figures = append(s.Figures, p.figure(fmt.Sprintf("signal-%s-%d", cmp.Or(g.Name, "other"), i), one.Name, plotted{Views: []chart.Chart{one.Chart}, Sync: sync, Small: true}, small))
		}
		p.Signals = append(p.Signals, s)
	}
}

// size is the room of a static picture.
type size struct{ width, height int }

var (
	wide  = size{1000, 290}
	half  = size{460, 260}
	small = size{340, 120}
)

// figure draws the view to begin with and keeps the data of all.
func (p *page) figure(id, caption string, data plotted, s size) figure {
	p.Figures[id] = data
	first := data.Views[data.First]
	f := figure{ID: id, Caption: caption, Chosen: data.First, Static: template.HTML(first.SVG(s.width, s.height))} //nolint:gosec // escaped by chart
	if len(data.Views) > 1 {
		for _, v := range data.Views {
			f.Choices = append(f.Choices, v.Title)
		}
	}
	if first.Y.Unit == quantity.Milliseconds && !data.Small {
		f.Log, f.Pressed = true, first.Y.Log
	}
	return f
}
