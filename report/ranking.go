package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// ranking is a metric of contenders beside each other, where no factor gives a curve its axis.
type ranking struct {
	Metric, Title string
	Bars          []rank
}

// rank is one contender's bar: its value and interval as shares of the widest.
type rank struct {
	Name             string
	Ink              int
	Value, Low, High float64
	Entry            entry
}

// rankings are the metrics that are worth a picture.
func (c comparison) rankings() []ranking {
	var all []ranking
	for _, m := range c.measured("throughput", "response_p99") {
		r := ranking{Metric: m, Title: heading(m)}
		if m == "throughput" {
			r.Title += ", operations per second"
		}
		widest := 0.0
		for row, x := range c.Contenders {
			b := rank{Name: x.Name, Ink: x.Ink, Entry: c.entry(row, 0, m)}
			if cell := x.Cells[0]; cell != nil {
				if f, ok := find(cell.Figures, m, ""); ok {
					e := f.Estimate
					b.Value, b.Low, b.High = known(e.Value, 0), known(e.Low, e.Value), known(e.High, e.Value)
					widest = max(widest, b.High)
				}
			}
			r.Bars = append(r.Bars, b)
		}
		for i := range r.Bars {
			b := &r.Bars[i]
			b.Value, b.Low, b.High = share(b.Value, widest), share(b.Low, widest), share(b.High, widest)
		}
		all = append(all, r)
	}
	return all
}

// known replaces what was measured too little to be a number.
func known(v, otherwise float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return otherwise
	}
	return v
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// SVG draws the bar with its interval as a whisker.
func (r rank) SVG() template.HTML {
	const width = 400
	return template.HTML(fmt.Sprintf(`<svg class="rank ink%d" viewBox="0 0 %d 22" role="img" aria-label="%s"><rect y="3" height="16" width="%.1f"/><path d="M%.1f 11H%.1fM%.1f 6v10M%.1f 6v10"/></svg>`,
		r.Ink%8, width+2, template.HTMLEscapeString(r.Name+" "+r.Entry.String()), r.Value*width, r.Low*width, r.High*width, r.Low*width, r.High*width)) //nolint:gosec // numbers and escaped text
}

// Text draws the bar in so many cells of a terminal.
func (r rank) Text(cells int) string {
	eighths := int(r.Value*float64(cells)*8 + 0.5)
	bar := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		bar += string(rune(0x2590 - eighths%8)) // ▏ to ▉
	}
	return bar
}
