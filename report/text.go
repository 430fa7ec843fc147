package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/report/terminal"
	"plimsoll/result"

	"github.com/charmbracelet/lipgloss"

	"plimsoll/analyze"
	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/series"
	"plimsoll/series/foreign"
)

// Terminal is where text goes: how wide it is and whether it shows colours. The zero value is 80 columns without.
type Terminal = terminal.Output

// Text writes a summary for a terminal: the verdict, the claims, the comparison or the phases, and the curve.
func Text(w io.Writer, r *result.Result, on Terminal) error {
	t := newText(on)
	if x := newRecorded(r, runs(r), 2*t.width); x != nil {
		x.body(t)
		return t.flush(w)
	}
	t.verdict(r.Verdict)
	for _, s := range append(changeLead(r.Verdict), signalLead(r.Verdict)...) {
		t.wrap(" ", " ", t.Bold.Render(s.Subject)+s.Text)
	}
	t.claims(r.Verdict)
	t.writes(newWrites(r))
	all := runs(r)
	c, compares := newComparison(r.Verdict.Cells)
	if compares {
		t.comparison(c)
	}
	if !compares && !disturbed(r) {
		for _, table := range operationTables(r) {
			t.table(table)
			t.linef("")
		}
	}
	if !compares || disturbed(r) {
		for _, u := range all {
			t.run(u, len(all) > 1 || u.Cell != "")
		}
	}
	if memory := warmthTable(r.Verdict); len(memory.Rows) > 0 {
		memory.Title = "In memory afterwards"
		t.table(memory)
		t.linef("")
	}
	if shown := shownTable(r.Verdict); len(shown.Rows) > 0 {
		shown.Title = "Signals expected"
		t.table(shown)
		t.linef("")
	}
	if signals := signalTable(r.Verdict); len(signals.Rows) > 0 {
		signals.Title = "Signals by variant"
		t.table(signals)
		t.linef("")
	}
	for _, n := range r.Verdict.Notes {
		t.wrap(t.Dim.Render("note"), "  ", n)
	}
	return t.flush(w)
}

// Plot writes the curves alone: each contender's over the factor, or throughput and p99 over time.
func Plot(w io.Writer, r *result.Result, on Terminal, beside ...foreign.Recording) error {
	t, laid := newText(on), newBesides(r, beside)
	c, compares := newComparison(r.Verdict.Cells)
	if compares {
		for _, metric := range c.measured("throughput", "response_p99") {
			t.compared(c, metric)
		}
	}
	if !compares || disturbed(r) || len(beside) > 0 {
		all := runs(r)
		for _, u := range all {
			if len(all) > 1 || u.Cell != "" {
				t.linef("%s", t.Bold.Render(u.Name()))
			}
			line, here := newTimeline(u, 2*t.width), laid.at(u)
			t.stack(10, here.throughput(line), withoutService(here.latency(line, "p99")))
			t.moments(u)
			t.beside(here, u)
		}
	}
	return t.flush(w)
}

// withoutService leaves out the trial's own service time: lines that lie on each other cannot be told apart in letters.
func withoutService(c chart.Chart) chart.Chart {
	c.Lines, c.Title = slices.Delete(slices.Clone(c.Lines), 1, 2), "p99 response"
	return c
}

// beside writes what lies beside a run below its pictures.
func (t *text) beside(here besides, u *run) {
	for _, s := range here.remarks() {
		t.wrap("", "", t.Bold.Render(s.Subject)+s.Text)
	}
	if !here.none() {
		t.linef("")
	}
	for _, rows := range here.tables(u) {
		t.table(rows)
	}
}

// text collects a terminal's text.
type text struct {
	terminal.Palette
	width int
	out   strings.Builder
}

func newText(on Terminal) *text { return &text{Palette: on.Palette(), width: on.Columns()} }

func (t *text) flush(w io.Writer) error {
	_, err := io.WriteString(w, strings.ReplaceAll(t.out.String(), "\u202f", " "))
	if err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	return nil
}

func (t *text) linef(format string, args ...any) {
	fmt.Fprintf(&t.out, format, args...)
	t.out.WriteByte('\n')
}

// wrap writes words to the width after a head, with what follows the first line set in below the words.
func (t *text) wrap(head, gap, words string) {
	room := max(t.width-lipgloss.Width(head+gap), 20)
	lines := strings.Split(lipgloss.NewStyle().Width(room).Render(words), "\n")
	for i, l := range lines {
		if i > 0 {
			head = strings.Repeat(" ", lipgloss.Width(head))
		}
		t.linef("%s", strings.TrimRight(head+gap+l, " "))
	}
}

func (t *text) verdict(v result.Verdict) {
	style := t.Answer(v.Verdict).Bold(true)
	t.linef("")
	t.wrap(style.Render(sign(v.Verdict)+" "+answer(v)), "  ", meaning(v))
	if v.Question != "" {
		t.wrap(" ", " ", v.Question)
	}
	if text := partly(v); text != "" {
		t.wrap(" ", " ", text)
	}
	for _, reason := range reasons(v) {
		t.wrap(" ", " ", reason)
	}
	t.linef("")
}

func (t *text) claims(v result.Verdict) {
	if len(v.Claims) > 0 && v.Verdict == analyze.Invalid {
		t.wrap(" ", " ", t.Dim.Render("The results as they would be if the measurement were valid, which it is not:"))
	}
	for _, f := range shownClaims(v) {
		style := t.Answer(f.Verdict)
		if v.Verdict == analyze.Invalid {
			style = t.Dim
		}
		t.wrap("  "+style.Render(fmt.Sprintf("%s %-12s", sign(f.Verdict), f.Verdict)), " ", f.Expect)
		t.wrap(strings.Repeat(" ", 16), " ", sentence(f))
		if f.Needs != "" {
			t.wrap(strings.Repeat(" ", 16), " ", "To decide: "+f.Needs+".")
		}
	}
	if len(v.Claims) > 0 {
		t.linef("")
	}
}

func (t *text) writes(w *writes) {
	if w == nil {
		return
	}
	for _, s := range w.Lead {
		t.wrap("", "", t.Bold.Render(s.Subject)+s.Text)
	}
	if len(w.Lead) > 0 {
		t.linef("")
	}
	for _, table := range w.Tables {
		t.table(table)
	}
}

func (t *text) comparison(c comparison) {
	for _, s := range c.lead() {
		t.wrap("", "", t.Bold.Render(s.Subject)+s.Text)
	}
	t.linef("")
	for _, metric := range c.measured("throughput") {
		t.compared(c, metric)
	}
	for _, table := range c.tables() {
		t.table(table)
	}
}

// compared draws a metric of a comparison as a curve or as bars.
func (t *text) compared(c comparison, metric string) {
	if c.Factor != "" {
		t.draw(c.curve(metric), 14)
		return
	}
	for _, r := range c.rankings() {
		if r.Metric == metric {
			t.bars(r)
		}
	}
}

func (t *text) bars(r ranking) {
	t.linef("%s", t.Bold.Render(r.Title))
	longest := 0
	for _, b := range r.Bars {
		longest = max(longest, utf8.RuneCountInString(b.Name))
	}
	for _, b := range r.Bars {
		bar := b.Text(max(t.width-longest-36, 10))
		t.linef("  %-*s %s %s %s", longest, b.Name, t.Inks[b.Ink%chart.Inks].Render(bar), strings.TrimSpace(b.Entry.Value+" "+b.Entry.Spread), toned(t.Palette, b.Entry.Tone).Render(b.Entry.signedChange()))
	}
	t.linef("")
}

func (t *text) run(u *run, named bool) {
	if named {
		t.linef("%s", t.Bold.Render(u.Name()))
	}
	for _, s := range u.lead() {
		t.wrap("", "", t.Bold.Render(s.Subject)+s.Text)
	}
	t.linef("")
	line := newTimeline(u, 2*t.width)
	t.stack(8, line.throughput(), withoutService(line.latency("p99")))
	for _, rows := range []table{u.phaseTable(), u.dipTable()} {
		if len(rows.Rows) > 0 {
			t.table(rows)
		}
		if rows.Note != "" {
			t.linef("")
		}
	}
}

// stack draws charts over the same time one above the other.
func (t *text) stack(height int, charts ...chart.Chart) {
	labels := 0
	for _, c := range charts {
		labels = max(labels, unitInTitle(c).LabelWidth(chart.Canvas{Height: height}))
	}
	for _, c := range charts {
		t.drawBeside(c, height, labels)
	}
}

// unitInTitle leaves the unit of rates out of the labels: the title says it.
func unitInTitle(c chart.Chart) chart.Chart {
	if c.Y.Unit == quantity.PerSecond {
		c.Title += ", operations per second"
		c.Y.Unit = quantity.Plain
	}
	return c
}

// moments names the events that the charts mark, but for the beginnings and ends of what the charts name below.
func (t *text) moments(u *run) {
	const most = 12
	events := slices.DeleteFunc(slices.Clone(u.Events), func(e series.Event) bool {
		return e.Kind.Group() == series.OfSteps || e.Kind.Group() == series.OfChanges
	})
	var all []string
	for i, e := range events {
		if i == most {
			all = append(all, fmt.Sprintf("and %d more", len(events)-most))
			break
		}
		all = append(all, quantity.Elapsed.Format(e.Time.Sub(u.Start).Seconds())+" "+eventName(e))
	}
	if len(all) > 0 {
		t.wrap(t.Fail.Render("▲"), " ", strings.Join(all, " · "))
		t.linef("")
	}
}

func (t *text) draw(c chart.Chart, height int) { t.drawBeside(c, height, 0) }

// drawBeside draws a chart with so much room for labels on the left, at least.
func (t *text) drawBeside(c chart.Chart, height, labels int) {
	if c.Empty() {
		return
	}
	c = unitInTitle(c)
	name := c.Title
	if c.X.Label != "" {
		name += ", by " + c.X.Label
	}
	t.linef("%s", t.Bold.Render(name))
	t.out.WriteString(c.Text(chart.Canvas{Width: t.width, Height: height, Labels: labels, Paint: t.Paint}))
	t.linef("")
}
