package report

import (
	"fmt"
	"math"

	"plimsoll/result"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
)

// percentiles are those of the response time that are shown.
var percentiles = []string{"response_p50", "response_p95", "response_p99", "response_p999"}

// lead says in one sentence per contender what it is against the control.
func (c comparison) lead() []remark {
	var all []remark
	for row, x := range c.Contenders {
		control, ok := c.control(row)
		if !ok {
			continue
		}
		s := ""
		for _, metric := range c.measured("throughput", "response_p99") {
			low, high, alike := math.Inf(1), math.Inf(-1), true
			for column := range c.Levels {
				if ratio, paired, ok := c.against(row, column, metric); ok && !math.IsNaN(ratio) {
					low, high = min(low, ratio), max(high, ratio)
					alike = alike && toneOf(metric, paired) == same
				}
			}
			if low > high {
				continue
			}
			if s != "" {
				s += ", "
			}
			s += called(metric) + " "
			if alike { // the data cannot tell any of them from none
				s += "≈ "
			}
			s += quantity.Change(low)
			if last := quantity.Change(high); last != quantity.Change(low) {
				s += " to " + last
			}
		}
		if s == "" {
			continue
		}
		over := ""
		if c.Factor != "" {
			over = fmt.Sprintf(", %s %s", c.Factor, c.Levels[0].Text)
			if last := len(c.Levels) - 1; last > 0 {
				over += " to " + c.Levels[last].Text
			}
		}
		all = append(all, remark{x.Name, fmt.Sprintf(" against %s%s: %s.", control.Name, over, s)})
	}
	return all
}

// tables are the comparison in numbers: one table per metric with the levels across, or one of all metrics.
func (c comparison) tables() []table {
	if c.Factor == "" {
		metrics := c.measured(append([]string{"throughput"}, percentiles...)...)
		t := table{}
		for _, m := range metrics {
			t.Columns = append(t.Columns, called(m))
		}
		for row, x := range c.Contenders {
			l := line{Head: x.Name, Ink: x.Ink}
			for _, m := range metrics {
				l.Cells = append(l.Cells, c.entry(row, 0, m))
			}
			t.Rows = append(t.Rows, l)
		}
		return []table{t}
	}
	var all []table
	for _, m := range c.measured("throughput", "response_p95", "response_p99") {
		t := table{Title: heading(m), Corner: c.Factor, Across: c.Factor}
		if m == "throughput" {
			t.Title += ", operations per second"
		}
		for _, l := range c.Levels {
			t.Columns = append(t.Columns, l.Text)
		}
		for row, x := range c.Contenders {
			l := line{Head: x.Name, Ink: x.Ink}
			for column := range c.Levels {
				l.Cells = append(l.Cells, c.entry(row, column, m))
			}
			t.Rows = append(t.Rows, l)
		}
		all = append(all, t)
	}
	return all
}

func (c comparison) entry(row, column int, metric string) entry {
	cell := c.Contenders[row].Cells[column]
	if cell == nil {
		return entry{}
	}
	f, ok := find(cell.Figures, metric, "")
	if !ok {
		return entry{Value: "–"}
	}
	var e entry
	e.Value, e.Spread = write(f)
	if ratio, paired, ok := c.against(row, column, metric); ok {
		e.Change, e.Tone = quantity.Change(ratio), toneOf(metric, paired)
	}
	return e
}

// curve draws a metric of every contender over the levels of the factor.
func (c comparison) curve(metric string) chart.Chart {
	out := chart.Chart{Title: heading(metric), X: c.axis(), Y: chart.Axis{Zero: true}}
	for _, l := range c.Levels {
		out.Xs = append(out.Xs, l.Value)
	}
	for _, x := range c.Contenders {
		l := chart.Line{Name: x.Name, Ink: x.Ink, Marked: true}
		for _, cell := range x.Cells {
			appendEstimate(&l, &out.Y, cell, metric)
		}
		out.Lines = append(out.Lines, l)
	}
	return out
}

func appendEstimate(l *chart.Line, y *chart.Axis, cell *result.Cell, metric string) {
	value, low, high := math.NaN(), math.NaN(), math.NaN()
	if cell != nil {
		if f, ok := find(cell.Figures, metric, ""); ok {
			value, y.Unit = f.Estimate.Value, quantity.Unit(f.Unit)
			if !math.IsInf(f.Estimate.High-f.Estimate.Low, 0) {
				low, high = f.Estimate.Low, f.Estimate.High
			}
		}
	}
	l.Values, l.Low, l.High = append(l.Values, value), append(l.Low, low), append(l.High, high)
}

// axis is that of the levels: a log axis where they rise by factors, as numbers of connections do.
func (c comparison) axis() chart.Axis {
	a := chart.Axis{Label: c.Factor}
	for _, l := range c.Levels {
		a.Ticks, a.Labels = append(a.Ticks, l.Value), append(a.Labels, l.Text)
	}
	first, last := c.Levels[0].Value, c.Levels[len(c.Levels)-1].Value
	a.Log = first > 0 && last/first >= 8
	return a
}
