package chart

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Canvas is room for a chart in a terminal.
type Canvas struct {
	Width  int // of everything, in cells
	Height int // of the lines alone; the axis, phases and legend stand below
	Labels int // cells at least for the labels on the left, so that charts over the same time stand above each other
	Paint  Paint
}

// Paint colours text. It adds nothing that takes room; nil leaves text as it is.
type Paint func(role Role, text string) string

// Role is what a text in a chart is: 0 to Inks-1 a line of that ink, or one of the others.
type Role int

// The roles that are not inks.
const (
	Frame Role = -1 - iota // axes, labels, boundaries
	Alarm                  // trouble, and phases in which something is done
)

// Text draws the chart in braille dots, one string with a newline after each row.
func (c Chart) Text(v Canvas) string {
	p := newPlot(c.withoutBands(), v)
	for _, l := range c.Lines {
		p.line(l)
	}
	for _, l := range c.Lines {
		p.markers(l)
	}
	p.boundaries()
	return p.rows() + p.axis() + p.phases() + p.legend()
}

// withoutBands leaves out the bands that letters cannot draw, so that they do not press the lines flat either.
func (c Chart) withoutBands() Chart {
	lines := slices.Clone(c.Lines)
	for i := range lines {
		if lines[i].Marked {
			lines[i].Low, lines[i].High = nil, nil
		}
	}
	c.Lines = lines
	return c
}

// plot is a grid of cells, each of 2 × 4 dots.
type plot struct {
	chart      Chart
	x, y       scale
	paint      Paint
	left       int // columns before the grid, for labels
	cols, high int
	dots       []uint8 // braille bits of each cell
	glyphs     []rune  // drawn over the dots
	roles      []Role
	dash       dash // of the line that is being drawn
}

func newPlot(c Chart, v Canvas) *plot {
	p := &plot{chart: c, paint: v.Paint, high: max(v.Height, 2)}
	if p.paint == nil {
		p.paint = func(_ Role, s string) string { return s }
	}
	p.y = c.yScale(max(p.high/3, 1))
	p.left = max(p.labelWidth(), v.Labels) + 2
	p.cols = max(v.Width-p.left-1, 8)
	p.x = c.xScale(max(p.cols/12, 1))
	p.dots, p.glyphs, p.roles = make([]uint8, p.cols*p.high), make([]rune, p.cols*p.high), make([]Role, p.cols*p.high)
	return p
}

func (p *plot) labelWidth() int {
	widest := 0
	for i := range p.y.ticks {
		widest = max(widest, width(p.y.label(i)))
	}
	return widest
}

// LabelWidth is how many cells the labels on the left take.
func (c Chart) LabelWidth(v Canvas) int {
	p := plot{y: c.yScale(max(v.Height/3, 1))}
	return p.labelWidth()
}

// dot is the position of a value in dots, from the top left; ok is false for a gap.
func (p *plot) dot(x, y float64) (dx, dy int, ok bool) {
	fx, fy := p.x.at(x), p.y.at(y)
	if math.IsNaN(fx + fy) {
		return 0, 0, false
	}
	return int(math.Round(fx * float64(2*p.cols-1))), int(math.Round((1 - fy) * float64(4*p.high-1))), true
}

func (p *plot) line(l Line) {
	p.dash = dash{}
	if l.Dashed {
		p.dash = dashes[l.Ink%len(dashes)]
	}
	joined, px, py := false, 0, 0
	for j, v := range l.Values {
		x, y, ok := p.dot(p.chart.Xs[j], v)
		if ok && joined {
			p.stroke(px, py, x, y, Role(l.Ink%Inks))
		} else if ok {
			p.set(x, y, Role(l.Ink%Inks))
		}
		joined, px, py = ok, x, y
		if !l.Marked && l.Low != nil { // the range a point stands for, so that its spikes are seen
			_, low, okLow := p.dot(p.chart.Xs[j], l.Low[j])
			_, high, okHigh := p.dot(p.chart.Xs[j], l.High[j])
			if ok && okLow && okHigh {
				p.stroke(x, low, x, high, Role(l.Ink%Inks))
			}
		}
	}
}

// dash is a line's pattern in dots, and its sign in the legend. The zero value has no gaps.
type dash struct {
	on, off int
	sign    string
}

// dashes are those of five inks in a row, 5, 6, 7, 3 and 4, so that lines side by side are told apart without colour.
var dashes = [...]dash{{8, 2, "─╴"}, {2, 2, "┈┈"}, {1, 6, "· "}, {3, 3, "╌╌"}, {1, 3, "··"}}

func (d dash) gap(at int) bool { return d.on > 0 && at%(d.on+d.off) >= d.on }

// stroke sets the dots between two positions.
func (p *plot) stroke(x0, y0, x1, y1 int, role Role) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		if x, y := x0+(x1-x0)*i/steps, y0+(y1-y0)*i/steps; p.dash.gap(x + y) {
			continue
		}
		p.set(x0+(x1-x0)*i/steps, y0+(y1-y0)*i/steps, role)
	}
}

// bits of the dots in a braille letter, by row and column.
var bits = [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func (p *plot) set(x, y int, role Role) {
	if x < 0 || x >= 2*p.cols || y < 0 || y >= 4*p.high {
		return
	}
	at := y/4*p.cols + x/2
	p.dots[at] |= bits[y%4][x%2]
	p.roles[at] = role
}

// marks are the markers of the inks, so that lines can be told apart without colour.
var marks = [Inks]string{"●", "■", "▲", "◆", "▼", "✚", "○", "□"}

func (p *plot) markers(l Line) {
	if !l.Marked {
		return
	}
	for j, v := range l.Values {
		if x, y, ok := p.dot(p.chart.Xs[j], v); ok {
			at := min(y/4, p.high-1)*p.cols + min(x/2, p.cols-1)
			p.glyphs[at], _ = utf8.DecodeRuneInString(marks[l.Ink%Inks])
			p.roles[at] = Role(l.Ink % Inks)
		}
	}
}

// boundaries draws the beginnings of phases where nothing else is.
func (p *plot) boundaries() {
	for _, s := range p.chart.Spans {
		col := p.column(s.From)
		if col <= 0 || col >= p.cols {
			continue
		}
		for row := range p.high {
			if at := row*p.cols + col; p.dots[at] == 0 && p.glyphs[at] == 0 {
				p.glyphs[at], p.roles[at] = '┊', Frame
			}
		}
	}
}

func (p *plot) column(x float64) int { return int(math.Round(p.x.at(x) * float64(p.cols))) }

func (p *plot) rows() string {
	labels := make([]string, p.high)
	for i, t := range p.y.ticks {
		labels[min(int(math.Round((1-p.y.at(t))*float64(4*p.high-1)))/4, p.high-1)] = p.y.label(i)
	}
	var b strings.Builder
	for row := range p.high {
		edge := "│"
		if labels[row] != "" {
			edge = "┤"
		}
		b.WriteString(p.paint(Frame, strings.Repeat(" ", p.left-2-width(labels[row]))+plain(labels[row])+" "+edge))
		for col := 0; col < p.cols; {
			from, role := col, p.roles[row*p.cols+col]
			var run strings.Builder
			for ; col < p.cols && (p.roles[row*p.cols+col] == role || p.blank(row, col)); col++ {
				run.WriteRune(p.cell(row*p.cols + col))
			}
			if text := run.String(); strings.TrimSpace(text) == "" && from >= 0 {
				b.WriteString(text)
			} else {
				b.WriteString(p.paint(role, text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (p *plot) blank(row, col int) bool { return p.cell(row*p.cols+col) == ' ' }

func (p *plot) cell(at int) rune {
	switch {
	case p.glyphs[at] != 0:
		return p.glyphs[at]
	case p.dots[at] != 0:
		return 0x2800 + rune(p.dots[at])
	default:
		return ' '
	}
}

// width counts the cells of a text that holds no wide letters.
func width(s string) int { return utf8.RuneCountInString(s) }

// plain replaces the narrow spaces that only proportional fonts need.
func plain(s string) string { return strings.ReplaceAll(s, "\u202f", " ") }

func abs(n int) int { return max(n, -n) }
