package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/series/foreign"
)

// Markdown writes report.md, for a pull request or a wiki.
func Markdown(w io.Writer, r *result.Result, beside ...foreign.Recording) error {
	m := &markdown{}
	v := r.Verdict
	if x := newRecorded(r, runs(r), textWidth); x != nil {
		x.markdown(m, r)
		return m.write(w)
	}
	m.linef("# %s %s: %s\n", mark(v.Verdict), answer(v), escape(name(r)))
	if v.Question != "" {
		m.linef("**%s**\n", escape(v.Question))
	}
	m.linef("%s\n", meaning(v))
	if text := partly(v); text != "" {
		m.linef("_%s_\n", text)
	}
	m.prose(reasons(v))
	leads := append(changeLead(v), signalLead(v)...)
	for _, s := range leads {
		m.linef("- **%s**%s", escape(s.Subject), escape(s.Text))
	}
	if len(leads) > 0 || len(v.Signals) > 0 {
		m.linef("")
	}
	m.claims(v)
	m.writes(newWrites(r))
	all := runs(r)
	if c, ok := newComparison(v.Cells); ok {
		m.comparison(c)
		if disturbed(r) || len(beside) > 0 {
			m.timelines(all, newBesides(r, beside))
		}
	} else {
		if !disturbed(r) {
			m.measured(operationTables(r))
		}
		m.timelines(all, newBesides(r, beside))
	}
	if disks := superDisks(r, all); len(disks) > 0 {
		m.linef("## The Super Disk\n")
		for _, d := range disks {
			m.table(d.Table())
		}
		m.linef("%s\n", superDiskKey)
	}
	if memory := warmthTable(v); len(memory.Rows) > 0 {
		m.linef("## In memory afterwards\n")
		m.table(memory)
	}
	if shown := shownTable(v); len(shown.Rows) > 0 {
		m.linef("## Signals expected\n")
		m.table(shown)
	}
	if signals := signalTable(v); len(signals.Rows) > 0 {
		m.linef("## Signals by variant\n")
		m.table(signals)
	}
	if len(v.Notes) > 0 {
		m.linef("## To keep in mind\n")
		m.list(v.Notes)
	}
	m.linef("## Where and how\n")
	for _, f := range facts(r.Environment) {
		m.linef("- %s: %s", f.Name, escape(f.Value))
	}
	m.linef("")
	for _, s := range method(r) {
		m.linef("%s\n", s)
	}
	return m.write(w)
}

// markdown collects the page.
type markdown struct{ strings.Builder }

func (m *markdown) write(w io.Writer) error {
	_, err := io.WriteString(w, strings.ReplaceAll(strings.TrimRight(m.String(), "\n")+"\n", "\u202f", " "))
	if err != nil {
		return fmt.Errorf("write report.md: %w", err)
	}
	return nil
}

func (m *markdown) linef(format string, args ...any) {
	fmt.Fprintf(m, format, args...)
	m.WriteByte('\n')
}

func (m *markdown) list(items []string) {
	for _, s := range items {
		m.linef("- %s", escape(s))
	}
	if len(items) > 0 {
		m.linef("")
	}
}

// prose lists sentences in which what stands in backquotes is a command.
func (m *markdown) prose(items []string) {
	for _, s := range items {
		parts := commands(s)
		for i := 0; i < len(parts); i += 2 {
			parts[i] = escape(parts[i])
		}
		m.linef("- %s", strings.Join(parts, "`"))
	}
	if len(items) > 0 {
		m.linef("")
	}
}

func (m *markdown) claims(v result.Verdict) {
	if len(v.Claims) == 0 {
		return
	}
	m.linef("| | expected | found | interval | margin | needs |\n|---|---|--:|--:|--:|---|")
	for _, f := range shownClaims(v) {
		unit := quantity.Unit(f.Unit)
		found, interval := "no estimate", ""
		if judged(f) {
			found = unit.Format(f.Estimate)
			if !exact(f) {
				interval = fmt.Sprintf("%s to %s (%s)", unit.Format(f.Low), unit.Format(f.High), quantity.Share.Format(f.Confidence))
			}
		}
		m.linef("| %s %s | `%s` | %s | %s | %s %s | %s |", mark(f.Verdict), f.Verdict, strings.ReplaceAll(f.Expect, "|", `\|`),
			found, interval, escape(f.Op), unit.Tick(f.Margin), escape(f.Needs))
	}
	m.linef("")
}

func (m *markdown) writes(w *writes) {
	if w == nil {
		return
	}
	m.linef("## Acknowledged writes, audited\n")
	for _, s := range w.Lead {
		m.linef("- **%s**%s", escape(s.Subject), escape(s.Text))
	}
	if len(w.Lead) > 0 {
		m.linef("")
	}
	for _, t := range w.Tables {
		m.table(t)
	}
}

func (m *markdown) measured(tables []table) {
	if len(tables) > 0 {
		m.linef("## Measured\n")
	}
	for _, t := range tables {
		m.table(t)
	}
}

func (m *markdown) comparison(c comparison) {
	m.linef("## Compared\n")
	for _, s := range c.lead() {
		m.linef("- **%s**%s", escape(s.Subject), escape(s.Text))
	}
	m.linef("")
	if c.Factor != "" && len(c.measured("throughput")) > 0 {
		m.code(c.curve("throughput"), "operations per second")
	}
	for _, t := range c.tables() {
		m.table(t)
	}
	m.linef("± is half the width of the interval, in percent of the value; in brackets the change against the control.\n")
}

func (m *markdown) timelines(all []*run, beside besides) {
	if len(all) == 0 {
		return
	}
	m.linef("## Over time\n")
	for _, u := range all {
		if len(all) > 1 || u.Cell != "" {
			m.linef("### %s\n", escape(u.Name()))
		}
		here := beside.at(u)
		for _, s := range append(u.lead(), here.remarks()...) {
			m.linef("- **%s**%s", escape(s.Subject), escape(s.Text))
		}
		m.linef("")
		over := newTimeline(u, textWidth)
		m.code(here.throughput(over), "operations per second")
		if !here.none() {
			m.code(withoutService(here.latency(over, "p99")), "p99 response, ms")
		}
		for _, t := range append([]table{u.phaseTable(), u.dipTable()}, here.tables(u)...) {
			if len(t.Rows) > 0 {
				m.table(t)
			}
		}
	}
}

// textWidth is how wide pictures in a code block are.
const textWidth = 96

func (m *markdown) code(c chart.Chart, name string) {
	c.Y.Unit = quantity.Plain
	if c.X.Label != "" {
		name += ", by " + c.X.Label
	}
	m.linef("```text\n%s\n\n%s```\n", name, strings.ReplaceAll(c.Text(chart.Canvas{Width: textWidth, Height: 12}), "`", "'"))
}

func (m *markdown) table(t table) {
	if t.Title != "" {
		m.linef("### %s\n", escape(t.Title))
	}
	m.WriteString("| " + escape(t.Corner) + " |")
	for _, c := range t.Columns {
		m.WriteString(" " + escape(c) + " |")
	}
	m.WriteString("\n|---|" + strings.Repeat("--:|", len(t.Columns)) + "\n")
	for _, l := range t.Rows {
		m.WriteString("| " + escape(l.Head) + " |")
		for _, e := range l.Cells {
			m.WriteString(" " + escape(e.String()) + " |")
		}
		m.WriteByte('\n')
	}
	m.linef("")
	if t.Note != "" {
		m.linef("%s\n", t.Note)
	}
}

// mark is an answer as a picture that every Markdown page shows.
func mark(a analyze.Answer) string {
	switch a {
	case analyze.Pass:
		return "✅"
	case analyze.Fail:
		return "❌"
	case analyze.Inconclusive:
		return "❔"
	default:
		return "⚠️"
	}
}

// escape keeps names and sentences from being read as Markdown or HTML.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "`", "\\`", "\n", " ").Replace(s)
}
