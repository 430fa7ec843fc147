package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"plimsoll/report/chart"
)

// steadiness is a picture per cell of a metric over time, with its rounds laid over each other: whoever doubts a
// number looks here whether it was steady.
type steadiness struct {
	Title   string // Throughput, p99 response
	Columns []string
	Rows    []sparkRow
}

type sparkRow struct {
	Head  string
	Ink   int
	Cells []template.HTML
}

// newSteadiness draws throughput and p99 response of every cell.
func newSteadiness(c comparison, all []*run, buckets int) []steadiness {
	return []steadiness{
		c.steady("Throughput", all, buckets, timeline.throughput),
		c.steady("p99 response", all, buckets, func(t timeline) chart.Chart { return t.latency("p99") }),
	}
}

func (c comparison) steady(title string, all []*run, buckets int, draw func(timeline) chart.Chart) steadiness {
	s := steadiness{Title: title}
	for _, l := range c.Levels {
		s.Columns = append(s.Columns, l.Text)
	}
	byCell := map[string][]*run{}
	for _, u := range all {
		byCell[u.Cell] = append(byCell[u.Cell], u)
	}
	for _, x := range c.Contenders {
		row := sparkRow{Head: x.Name, Ink: x.Ink}
		for _, cell := range x.Cells {
			if cell == nil {
				row.Cells = append(row.Cells, "")
				continue
			}
			row.Cells = append(row.Cells, sparks(strings.ToLower(title[:1])+title[1:], byCell[cell.Name], buckets, draw))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// sparks draws the runs of a cell over each other; warm-up is fainter.
func sparks(what string, all []*run, buckets int, draw func(timeline) chart.Chart) template.HTML {
	const width, height = 120.0, 34.0
	longest, highest := 0.0, 0.0
	lines := make([]chart.Chart, len(all))
	for i, u := range all {
		longest = max(longest, u.End.Sub(u.Start).Seconds())
		lines[i] = draw(newTimeline(u, buckets))
		for _, v := range lines[i].Lines[0].Values {
			if v > highest {
				highest = v
			}
		}
	}
	if highest == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %g %g" role="img" aria-label="%s of %d rounds over time">`, width, height, what, len(all))
	for i, c := range lines {
		begin := measuredFrom(all[i])
		var warm, rest strings.Builder
		for j, v := range c.Lines[0].Values {
			if math.IsNaN(v) {
				continue
			}
			to := &rest
			if c.Xs[j] < begin {
				to = &warm
			}
			command := "L"
			if to.Len() == 0 {
				command = "M"
			}
			fmt.Fprintf(to, "%s%.1f %.1f", command, c.Xs[j]/longest*width, height-1-v/highest*(height-3))
		}
		fmt.Fprintf(&b, `<path class="aside" d="%s"/><path class="round%d" d="%s"/>`, warm.String(), i%3, rest.String())
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // numbers only
}

// measuredFrom is when a run's warm-up was over, in seconds after its start.
func measuredFrom(u *run) float64 {
	from := 0.0
	for _, p := range u.Phases {
		if p.Name == "warmup" {
			from = max(from, p.To.Sub(u.Start).Seconds())
		}
	}
	return from
}
