package report

import (
	"html/template"
	"slices"

	"plimsoll/result"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
)

// page is report.html before it is written: every number is already text, every picture already drawn once.
type page struct {
	Verdict result.Verdict
	Name    string
	Answer  string // the verdict's word
	Class   string // of it, for the style sheet
	Meaning string
	Partly  string
	Reasons []string
	Date    string
	Engine  string
	Claims  []claim
	Judged  bool // at least one claim has an interval to show

	Recorded *recorded // what a watch recorded, in place of a verdict; nil: it is a trial's result

	Writes     *writes
	Comparison *comparisonSection
	Timelines  []timelineSection
	MoreRuns   int // runs that are too many to draw
	SuperDisks []superDisk
	DiskKey    string // how their picture is read
	Memory     table
	Shown      table    // signals that expectations name
	Leads      []remark // what the changes were like in each variant, and the largest differences between their signals
	ByVariant  table    // and all of them
	Signals    []signalSection
	Operations []table

	Facts    []fact
	Differ   table // settings that are not the same in every cell
	Settings table // and those that are
	Guard    table
	Method   []string
	Source   string

	Data data
}

type comparisonSection struct {
	Lead     []remark
	Figures  []figure
	Rankings []ranking
	Tables   []table
	Steady   []steadiness
}

type timelineSection struct {
	Name    string
	Lead    []remark
	Figures []figure
	Phases  table
	Dips    table
	Beside  []table
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

// data is what uPlot draws.
type data struct {
	Figures map[string]plotted `json:"figures"` // by id
	Frames  map[string]frame   `json:"frames"`  // by Sync: what figures over the same time have in common
}

type frame struct {
	Spans []chart.Span `json:"spans"`
	Marks []chart.Mark `json:"marks"`
}

// plotted is a figure's data.
type plotted struct {
	Views []chart.Chart `json:"views"`
	First int           `json:"first"`          // which view is shown to begin with
	Sync  string        `json:"sync,omitempty"` // figures of the same word move their cursors together
	Small bool          `json:"small,omitempty"`
}

// detail is how many points long series are reduced to, and how many events are listed, all runs together.
type detail struct{ timeline, signal, spark, events int }

// newPage draws a result with as much detail as is asked for, shared out among its pictures.
func newPage(r *result.Result, beside besides, d detail) *page {
	p := &page{
		Verdict: r.Verdict, Name: name(r), Answer: answer(r.Verdict), Class: classOf(r.Verdict),
		Meaning: meaning(r.Verdict), Partly: partly(r.Verdict), Reasons: reasons(r.Verdict),
		Date: date(r.Environment.Started), Engine: join(r.Environment.Engine["product"], r.Environment.Engine["version"]),
		Claims: claims(r.Verdict), Judged: slices.ContainsFunc(r.Verdict.Claims, judged), Operations: operationTables(r),
		Memory: warmthTable(r.Verdict), Shown: shownTable(r.Verdict), Leads: append(changeLead(r.Verdict), signalLead(r.Verdict)...), ByVariant: signalTable(r.Verdict),
		Facts: facts(r.Environment), Differ: settingsThatDiffer(r.Environment, r.Verdict.Cells), Settings: settingsTable(r.Environment, r.Verdict.Cells), Guard: guardTable(r.Signals),
		Writes: newWrites(r), Method: method(r), Source: r.Source, Data: data{Figures: map[string]plotted{}, Frames: map[string]frame{}},
	}
	all := runs(r)
	if p.Recorded = newRecorded(r, all, 600); p.Recorded != nil {
		p.recorded(r, all, d)
		return p
	}
	c, compares := newComparison(r.Verdict.Cells)
	if compares {
		p.compare(c, all, d)
	}
	if !compares || disturbed(r) || !beside.none() {
		p.overTime(all, beside, d)
	}
	const most = 24
	p.SuperDisks = superDisks(r, all)
	p.SuperDisks, p.DiskKey = p.SuperDisks[:min(most, len(p.SuperDisks))], superDiskKey
	p.signals(r, all, d)
	return p
}

// recorded draws what a watch recorded, with all curves over the same time.
func (p *page) recorded(r *result.Result, all []*run, d detail) {
	x := p.Recorded
	p.Meaning, p.Reasons, p.Operations = x.Lead, nil, nil
	s := timelineSection{Beside: []table{x.Instances}, Events: x.Changes}
	if !x.Curve.Empty() {
		s.Figures = []figure{p.figure(overAll+"-statements", "Statements a second, by instance", plotted{Views: []chart.Chart{x.Curve}, Sync: overAll}, wide)}
	}
	p.Timelines = []timelineSection{s}
	p.signals(r, all, d)
}

// size is the room of a static picture.
type size struct{ width, height int }

var (
	wide  = size{1000, 290}
	half  = size{460, 260}
	small = size{340, 120}
)

// figure draws the view to begin with and keeps the data of all.
func (p *page) figure(id, caption string, d plotted, s size) figure {
	first := d.Views[d.First]
	if d.Sync != "" {
		p.Data.Frames[d.Sync] = frame{first.Spans, first.Marks}
		for i := range d.Views {
			d.Views[i].Spans, d.Views[i].Marks = nil, nil
		}
	}
	p.Data.Figures[id] = d
	f := figure{ID: id, Caption: caption, Chosen: d.First, Static: template.HTML(first.SVG(s.width, s.height))} //nolint:gosec // escaped by chart
	if len(d.Views) > 1 {
		for _, v := range d.Views {
			f.Choices = append(f.Choices, v.Title)
		}
	}
	if first.Y.Unit == quantity.Milliseconds && !d.Small {
		f.Log, f.Pressed = true, first.Y.Log
	}
	return f
}
