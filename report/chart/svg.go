package chart

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// SVG draws the chart in width × height user units. Colours, dashes and fonts are left to the page's style sheet: classes
// ink0 to ink7, band, dots, grid, tick, label, mark, trouble and the tints.
func (c Chart) SVG(width, height int) string {
	d := drawing{chart: c, x: c.xScale(max(width/90, 2)), y: c.yScale(max(height/45, 2))}
	d.frame(float64(width), float64(height))
	fmt.Fprintf(&d.out, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, width, height, html.EscapeString(c.Describe()))
	d.spans()
	d.grid()
	for _, l := range c.Lines {
		d.band(l)
	}
	for _, l := range c.Lines {
		d.line(l)
	}
	d.moments()
	if d.labelled() {
		d.names()
	}
	d.out.WriteString("</svg>")
	return d.out.String()
}

// Describe says in words what the chart shows, for those who cannot see it.
func (c Chart) Describe() string {
	names := make([]string, len(c.Lines))
	for i, l := range c.Lines {
		names[i] = l.Shown()
	}
	s := c.Title
	if c.X.Label != "" {
		s += " over " + c.X.Label
	}
	if len(names) > 1 {
		s += ": " + strings.Join(names, ", ")
	}
	return s
}

// drawing is a chart on its way to SVG. The frame holds the lines; labels stand around it.
type drawing struct {
	chart                    Chart
	x, y                     scale
	width                    float64
	left, right, top, bottom float64
	out                      strings.Builder
}

// Widths of letters in the labels, in user units; the fonts are the reader's, so this is a guess on the safe side.
const (
	letter       = 6.7
	boldLetter   = 7.5
	wideLetter   = 8.1 // of a short name in DejaVu Sans, with no narrow letters to make up for its wide ones
	shortestName = 10
)

func (d *drawing) frame(width, height float64) {
	d.width = width
	longest := 0
	for i := range d.y.ticks {
		longest = max(longest, utf8.RuneCountInString(d.y.label(i)))
	}
	d.left = float64(longest)*letter + 8
	d.right = width - 18
	if d.labelled() {
		longest = shortestName // so that pictures above each other are equally wide
		for _, l := range d.chart.Lines {
			longest = max(longest, columns(l.Shown()))
		}
		d.right = width - min(float64(longest)*wideLetter+12, width/3.5)
	}
	d.left = max(d.left, width/14)
	d.top, d.bottom = 10, height-22
	if d.named() {
		d.top = 36
	}
	if d.chart.X.Label != "" {
		d.bottom = height - 38
	}
}

func (d *drawing) px(v float64) float64 { return d.left + d.x.at(v)*(d.right-d.left) }
func (d *drawing) py(v float64) float64 { return d.bottom - d.y.at(v)*(d.bottom-d.top) }

// named tells whether there is room for the names of spans: small pictures stand beside a large one that has them.
func (d *drawing) named() bool { return len(d.chart.Spans) > 0 && d.width >= 400 }

// labelled tells whether lines are named at their ends.
func (d *drawing) labelled() bool { return len(d.chart.Lines) > 1 || d.named() }

// spans shades the phases. What is done to the cluster is named on a line of its own, because it may be short and must
// not go unnamed.
func (d *drawing) spans() {
	for i, s := range d.chart.Spans {
		from, to := d.px(s.From), d.px(s.To)
		if s.Tint != Calm {
			fmt.Fprintf(&d.out, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`,
				s.Tint, short(from), short(d.top), short(max(to-from, 1)), short(d.bottom-d.top))
		}
		if s.Tint == Step { // steps touch each other
			fmt.Fprintf(&d.out, `<path class="grid" d="M%s %sV%s"/>`, short(from), short(d.top), short(d.bottom))
		}
		if !d.named() {
			continue
		}
		y := d.top - 5
		if s.Tint == Disturbed {
			y, to = d.top-21, d.right
			for _, next := range d.chart.Spans[i+1:] {
				if next.Tint == Disturbed {
					to = d.px(next.From)
					break
				}
			}
		}
		if name := fit(s.Name, int((to-from-4)/letter)); name != "" {
			fmt.Fprintf(&d.out, `<text class="%s" x="%s" y="%s">%s</text>`, s.Tint, short(from+2), short(y), html.EscapeString(name))
		}
	}
}

func (d *drawing) grid() {
	for i, t := range d.y.ticks {
		y := short(d.py(t))
		fmt.Fprintf(&d.out, `<path class="grid" d="M%s %sH%s"/><text class="tick y" x="%s" y="%s">%s</text>`,
			short(d.left), y, short(d.right), short(d.left-6), short(d.py(t)+4), html.EscapeString(d.y.label(i)))
	}
	for i, t := range d.x.ticks {
		fmt.Fprintf(&d.out, `<text class="tick x" x="%s" y="%s">%s</text>`, short(d.px(t)), short(d.bottom+16), html.EscapeString(d.x.label(i)))
	}
	if d.chart.X.Label != "" {
		fmt.Fprintf(&d.out, `<text class="label" x="%s" y="%s">%s</text>`,
			short((d.left+d.right)/2), short(d.bottom+33), html.EscapeString(d.chart.X.Label))
	}
}

// moments draws marks, and trouble along the bottom.
func (d *drawing) moments() {
	for _, m := range d.chart.Marks {
		x := short(d.px(m.At))
		fmt.Fprintf(&d.out, `<path class="mark" d="M%s %sV%s"><title>%s</title></path>`, x, short(d.top), short(d.bottom), html.EscapeString(m.Name))
	}
	if len(d.chart.Trouble) > 0 {
		var b strings.Builder
		for _, t := range d.chart.Trouble {
			fmt.Fprintf(&b, "M%s %sv-7", short(d.px(t)), short(d.bottom))
		}
		fmt.Fprintf(&d.out, `<path class="trouble" d="%s"/>`, b.String())
	}
}

// names writes each line's name at its end, in two rows if one has no room for it, pushed apart where they would overlap.
func (d *drawing) names() {
	type name struct {
		of   Line
		rows []string
		y    float64 // of the first row
	}
	const apart = 14.0
	room := max(int((d.width-d.right-10)/boldLetter), 4)
	var all []name
	for _, l := range d.chart.Lines {
		for _, v := range slices.Backward(l.Values) {
			if y := d.py(v); !math.IsNaN(y) {
				all = append(all, name{l, inTwo(l.Shown(), room), y})
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	for i := 1; i < len(all); i++ {
		all[i].y = max(all[i].y, all[i-1].y+apart*float64(len(all[i-1].rows)))
	}
	limit := d.bottom
	for i := len(all) - 1; i >= 0; i-- {
		all[i].y = min(all[i].y, limit-apart*float64(len(all[i].rows)-1))
		limit = all[i].y - apart
	}
	for _, n := range all {
		for i, row := range n.rows {
			title := ""
			if strings.HasSuffix(row, "…") {
				title = "<title>" + html.EscapeString(n.of.Shown()) + "</title>"
			}
			fmt.Fprintf(&d.out, `<text class="name ink%d" x="%s" y="%s">%s%s</text>`, n.of.Ink%Inks, short(d.right+10), short(n.y+4+apart*float64(i)), title, html.EscapeString(row))
		}
	}
}
