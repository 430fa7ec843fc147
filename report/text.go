package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/trial"
)

// Text writes a summary for a terminal: the verdict, the claims, the comparison or the phases, and the curve.
func Text(w io.Writer, r *trial.Result, on Terminal) error {
	t := newText(on)
	t.verdict(r.Verdict)
	t.claims(r.Verdict)
	all := runs(r)
	c, compares := newComparison(r.Verdict.Cells)
	if compares {
		t.comparison(c)
	}
	if !compares || disturbed(r) {
		for _, u := range all {
			t.run(u, len(all) > 1 || u.Cell != "")
		}
	}
	for _, n := range r.Verdict.Notes {
		t.wrap(t.dim.Render("note"), "  ", n)
	}
	return t.flush(w)
}

// Plot writes the curves alone: each contender's over the factor, or throughput and p99 over time.
func Plot(w io.Writer, r *trial.Result, on Terminal) error {
	t := newText(on)
	c, compares := newComparison(r.Verdict.Cells)
	if compares {
		for _, metric := range c.measured("throughput", "response_p99") {
			t.compared(c, metric)
		}
	}
	if !compares || disturbed(r) {
		all := runs(r)
		for _, u := range all {
			if len(all) > 1 || u.Cell != "" {
				t.linef("%s", t.bold.Render(u.Name()))
			}
			line := newTimeline(u, 2*t.width)
			t.draw(line.throughput(), 10)
			t.draw(responseOnly(line.latency("p99")), 10)
		}
	}
	return t.flush(w)
}

// responseOnly leaves out the service time: lines that lie on each other cannot be told apart in letters.
func responseOnly(c chart.Chart) chart.Chart {
	c.Lines, c.Title = c.Lines[:1], "p99 response"
	return c
}

// text collects a terminal's text.
type text struct {
	palette
	width int
	out   strings.Builder
}

func newText(on Terminal) *text { return &text{palette: on.palette(), width: on.width()} }

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

func (t *text) verdict(v trial.Verdict) {
	style := t.answer(v.Verdict).Bold(true)
	t.linef("")
	t.wrap(style.Render(sign(v.Verdict)+" "+answer(v)), "  ", meaning(v))
	if v.Question != "" {
		t.wrap(" ", " ", v.Question)
	}
	if v.Partial {
		t.wrap(" ", " ", "Partial: interrupted; this is what was measured by then.")
	}
	for _, reason := range reasons(v) {
		t.wrap(" ", " ", reason)
	}
	t.linef("")
}

func (t *text) claims(v trial.Verdict) {
	for _, f := range v.Claims {
		style := t.answer(f.Verdict)
		t.wrap("  "+style.Render(fmt.Sprintf("%s %-12s", sign(f.Verdict), f.Verdict)), " ", f.Expect)
		t.wrap(strings.Repeat(" ", 16), " ", sentence(f))
		if f.Needs != "" {
			t.wrap(strings.Repeat(" ", 16), " ", "To tell: "+f.Needs+".")
		}
	}
	if len(v.Claims) > 0 {
		t.linef("")
	}
}

func (t *text) comparison(c comparison) {
	for _, s := range c.lead() {
		t.wrap("", "", t.bold.Render(s.Subject)+s.Text)
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
		if !strings.HasPrefix(r.Title, heading(metric)) {
			continue
		}
		t.linef("%s", t.bold.Render(r.Title))
		longest := 0
		for _, b := range r.Bars {
			longest = max(longest, utf8.RuneCountInString(b.Name))
		}
		for _, b := range r.Bars {
			bar := b.Text(max(t.width-longest-36, 10))
			t.linef("  %-*s %s %s %s", longest, b.Name, t.inks[b.Ink%chart.Inks].Render(bar), strings.TrimSpace(b.Entry.Value+" "+b.Entry.Spread), t.tone(b.Entry.Tone).Render(b.Entry.Change))
		}
		t.linef("")
	}
}

func (t *text) run(u *run, named bool) {
	if named {
		t.linef("%s", t.bold.Render(u.Name()))
	}
	for _, s := range u.lead() {
		t.wrap("", "", t.bold.Render(s.Subject)+s.Text)
	}
	t.linef("")
	line := newTimeline(u, 2*t.width)
	t.draw(line.throughput(), 8)
	t.draw(responseOnly(line.latency("p99")), 8)
	if phases := u.phaseTable(); len(phases.Rows) > 0 {
		t.table(phases)
	}
}

func (t *text) draw(c chart.Chart, height int) {
	if c.Empty() {
		return
	}
	name := c.Title
	if c.Y.Unit == quantity.PerSecond {
		name += ", operations per second"
		c.Y.Unit = quantity.Plain
	}
	if c.X.Label != "" {
		name += ", by " + c.X.Label
	}
	t.linef("%s", t.bold.Render(name))
	t.out.WriteString(c.Text(chart.Canvas{Width: t.width, Height: height, Paint: t.paint}))
	t.linef("")
}
