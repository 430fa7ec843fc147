// Package advice writes advice for people: in a terminal and as Markdown.
package advice

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/report/chart"
	"plimsoll/report/quantity"
)

// Memory writes a report on memory as text for a terminal of a width.
func Memory(r *advise.Memory, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Memory of %s, node %s, seen for %s\n\n", r.Cluster, r.Node, quantity.Duration(r.Looked))
	for _, s := range r.Explained {
		b.WriteString(fold(s, width))
	}
	b.WriteByte('\n')
	b.WriteString(memoryChart(r).Text(chart.Canvas{Width: width, Height: 10}))
	b.WriteByte('\n')
	b.WriteString(memorySizes(r).text())
	b.WriteByte('\n')
	b.WriteString(memoryTables(r).text())
	b.WriteByte('\n')
	for _, s := range memoryNotes(r) {
		b.WriteString(fold(s, width))
	}
	return b.String()
}

// MemoryMarkdown writes it for a ticket.
func MemoryMarkdown(r *advise.Memory) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Memory of %s, node %s\n\nSeen for %s from %s.\n\n", r.Cluster, r.Node, quantity.Duration(r.Looked), r.At.UTC().Format("2006-01-02 15:04 MST"))
	for _, s := range r.Explained {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", memorySizes(r).markdown(), memoryTables(r).markdown())
	for _, s := range memoryNotes(r) {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	return b.String()
}

func memoryNotes(r *advise.Memory) []string {
	notes := append([]string{}, r.Notes...)
	for _, p := range r.Curve.Points {
		if p.Doubt != "" {
			notes = append(notes, fmt.Sprintf("%s: low confidence, because %s.", quantity.Bytes.Format(float64(p.Bytes)), p.Doubt))
		}
	}
	c := r.Cost
	how := "by SQL"
	if c.By == "file" {
		how = "from the server's own file"
	}
	return append(notes, fmt.Sprintf("Cost of the observation: %d lists %s, %.1f %% of the time; an answer took %s longer than usual at the median, %s at most.",
		c.Lists, how, 100*c.Share, quantity.Duration(c.Stall), quantity.Duration(c.MaxStall)))
}

func memoryChart(r *advise.Memory) chart.Chart {
	c := chart.Chart{
		Title: "reads a second by memory", X: chart.Axis{Label: "memory for pages", Unit: quantity.Bytes},
		Y: chart.Axis{Label: "reads", Unit: quantity.PerSecond, Zero: true},
	}
	line := chart.Line{Name: "reads a second, with its 90 % interval", Ink: 0}
	for _, p := range r.Line {
		c.Xs = append(c.Xs, float64(p.Bytes))
		line.Values, line.Low, line.High = append(line.Values, p.Reads), append(line.Low, p.Low), append(line.High, p.High)
	}
	c.Lines = []chart.Line{line}
	c.Marks = []chart.Mark{{At: float64(r.Bytes), Name: "today"}}
	if r.Curve.Knee > 0 {
		c.Marks = append(c.Marks, chart.Mark{At: float64(r.Curve.Knee), Name: "under 5 %"})
	}
	return c
}

func memorySizes(r *advise.Memory) *grid {
	g := newGrid("memory", "reads/s", "90 % interval", "of today", "model", "warm after resize", "after restart", "")
	for i, p := range r.Curve.Points {
		note := ""
		switch {
		case p.Bytes == r.Bytes:
			note = "today"
		case p.Source == advise.AllData:
			note = "all data fits"
		case p.Doubt != "":
			note = "low confidence"
		}
		warm := "–"
		if r.Warm[i].Resized > 0 {
			warm = spanned(r.Warm[i].ResizedLow, r.Warm[i].ResizedHigh)
		}
		g.row(quantity.Bytes.Format(float64(p.Bytes)), quantity.Number(p.Reads), quantity.Number(p.Low)+" to "+quantity.Number(p.High),
			ofToday(p.Reads/max(r.Curve.Now.Reads, 1e-9)), quantity.Number(p.Model), warm, spanned(r.Warm[i].RestartedLow, r.Warm[i].RestartedHigh), note)
	}
	return g
}

// ofToday is a change of the reads, in percent also where hardly any are left.
func ofToday(ratio float64) string {
	if ratio > 0 && ratio < 0.01 {
		return fmt.Sprintf("−%.4g\u202f%%", 100*(1-ratio))
	}
	return quantity.Change(ratio)
}

// spanned is a time by its interval.
func spanned(low, high time.Duration) string {
	if from, to := quantity.Duration(low), quantity.Duration(high); from != to {
		return from + " to " + to
	}
	return quantity.Duration(high)
}

// mostTables is how many tables and indexes are listed.
const mostTables = 12

func memoryTables(r *advise.Memory) *grid {
	g := newGrid("table", "index", "in memory", "of memory", "of the table", "reads/s of the table", "")
	for _, t := range r.Tables[:min(len(r.Tables), mostTables)] {
		name, of, reads := t.Table, "", ""
		if name == "" {
			name = "(of the server)"
		}
		if t.Of > 0 {
			of = quantity.Share.Format(min(t.Of, 1))
		}
		if t.Reads > 0 {
			reads = quantity.Number(t.Reads)
		}
		g.row(name, t.Index, quantity.Bytes.Format(float64(t.Pages*r.PageSize)), quantity.Share.Format(t.Share), of, reads, string(t.Role))
	}
	return g
}
