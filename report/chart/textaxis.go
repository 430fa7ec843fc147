package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/report/quantity"
)

// axis is the x axis with trouble and marks on it, and its labels.
func (p *plot) axis() string {
	line := []rune(strings.Repeat("─", p.cols))
	roles := make([]Role, p.cols)
	put := func(x float64, r rune, role Role) {
		if col := min(p.column(x), p.cols-1); col >= 0 {
			line[col], roles[col] = r, role
		}
	}
	for i := range roles {
		roles[i] = Frame
	}
	for _, t := range p.x.ticks {
		put(t, '┬', Frame)
	}
	for _, t := range p.chart.Trouble {
		put(t, '×', Alarm)
	}
	for _, m := range p.chart.Marks {
		put(m.At, '▲', Alarm)
	}
	var b strings.Builder
	b.WriteString(p.paint(Frame, strings.Repeat(" ", p.left-1)+"└"))
	for from := 0; from < p.cols; {
		to := from
		for to < p.cols && roles[to] == roles[from] {
			to++
		}
		b.WriteString(p.paint(roles[from], string(line[from:to])))
		from = to
	}
	return b.String() + "\n" + p.paint(Frame, strings.TrimRight(p.labels(), " ")) + "\n"
}

// labels writes those labels of the x axis that have room.
func (p *plot) labels() string {
	line := blank(p.left + p.cols + 1)
	free := 0
	for i, t := range p.x.ticks {
		text := []rune(plain(p.x.label(i)))
		at := min(max(p.left+p.column(t)-len(text)/2, 0), len(line)-len(text))
		if at >= free {
			copy(line[at:], text)
			free = at + len(text) + 1
		}
	}
	return string(line)
}

// phases is a strip that names the spans. What is done to the cluster is heavy, and named on a line of its own: it may
// be short and must not go unnamed.
func (p *plot) phases() string {
	if len(p.chart.Spans) == 0 {
		return ""
	}
	var b, below strings.Builder
	b.WriteString(strings.Repeat(" ", p.left))
	end, belowEnd := 0, 0
	for i, s := range p.chart.Spans {
		from, to := max(min(p.column(s.From), p.cols), end), min(p.column(s.To), p.cols)
		if to <= from {
			continue
		}
		b.WriteString(strings.Repeat(" ", from-end))
		end = to
		if s.Tint == Disturbed {
			b.WriteString(p.paint(Alarm, "┝"+strings.Repeat("━", to-from-1)))
			room := p.cols
			for _, next := range p.chart.Spans[i+1:] {
				if next.Tint == Disturbed {
					room = min(p.column(next.From), p.cols)
					break
				}
			}
			if name := fit(s.Name, room-from-1); name != "" {
				at := max(min(from, p.cols-width(name)), belowEnd) // set back from the edge
				below.WriteString(strings.Repeat(" ", at-belowEnd) + p.paint(Alarm, name))
				belowEnd = at + width(name)
			}
			continue
		}
		text := "├" + strings.Repeat("─", to-from-1)
		if name := []rune(fit(s.Name, to-from-3)); len(name) > 0 {
			rest := to - from - 3 - len(name)
			text = "├" + strings.Repeat("─", rest/2) + " " + string(name) + " " + strings.Repeat("─", rest-rest/2)
		}
		b.WriteString(p.paint(Frame, text))
	}
	if belowEnd > 0 {
		b.WriteString("\n" + strings.Repeat(" ", p.left) + below.String())
	}
	return b.String() + "\n" + p.steps()
}

// steps names the parts of what is done to the cluster that are long enough to be named.
func (p *plot) steps() string {
	var b strings.Builder
	end := 0
	for _, s := range p.chart.Spans {
		if s.Tint != Step {
			continue
		}
		from, to := min(p.column(s.From), p.cols), min(p.column(s.To), p.cols)
		name := fit(s.Name, to-from-1)
		if name == "" || from < end {
			continue
		}
		b.WriteString(strings.Repeat(" ", from-end) + p.paint(Frame, "┊"+name))
		end = from + 1 + width(name)
	}
	if end == 0 {
		return ""
	}
	return strings.Repeat(" ", p.left) + b.String() + "\n"
}

// legend names the lines, where there is more than one, and the signs.
func (p *plot) legend() string {
	var parts []string
	if len(p.chart.Lines) > 1 {
		for _, l := range p.chart.Lines {
			sign := marks[l.Ink%Inks]
			switch {
			case l.Dashed:
				sign = dashes[l.Ink%len(dashes)].sign
			case !l.Marked:
				sign = "──"
			}
			parts = append(parts, p.paint(Role(l.Ink%Inks), sign+" "+l.Shown()))
		}
	}
	if len(p.chart.Trouble) > 0 {
		parts = append(parts, p.paint(Alarm, "×")+p.paint(Frame, " errors"))
	}
	if len(p.chart.Marks) > 0 {
		parts = append(parts, p.paint(Alarm, "▲")+p.paint(Frame, " "+p.marked()))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Repeat(" ", p.left) + strings.Join(parts, "   ") + "\n"
}

// marked says what the marks are: events on an axis of time, and on another what they are called and where they stand.
func (p *plot) marked() string {
	if p.chart.X.Unit == quantity.Elapsed {
		return "event"
	}
	var names []string
	for _, m := range slices.SortedFunc(slices.Values(p.chart.Marks), func(a, b Mark) int { return cmp.Compare(a.At, b.At) }) {
		names = append(names, plain(fmt.Sprintf("%s (%s)", m.Name, p.chart.X.Unit.Format(m.At))))
	}
	return strings.Join(names, ", ")
}

func blank(n int) []rune { return []rune(strings.Repeat(" ", n)) }
