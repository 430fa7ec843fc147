// Package chart is one picture of series over a common x axis, drawn as SVG, in a terminal, or by uPlot from its JSON.
package chart

import (
	"cmp"
	"math"
	"strconv"

	"plimsoll/report/quantity"
)

// Chart is a picture. What it holds is already reduced to what can be seen: see Reduce.
type Chart struct {
	Title   string `json:"title"`
	X       Axis   `json:"x"`
	Y       Axis   `json:"y"`
	Xs      Values `json:"xs"` // rising
	Lines   []Line `json:"lines"`
	Spans   []Span `json:"spans,omitempty"`
	Marks   []Mark `json:"marks,omitempty"`
	Trouble Values `json:"trouble,omitempty"` // where operations failed: ticks along the x axis
}

// Axis says how positions on an axis are scaled and written.
type Axis struct {
	Label  string        `json:"label"`
	Unit   quantity.Unit `json:"unit"`
	Log    bool          `json:"log,omitempty"`
	Zero   bool          `json:"zero,omitempty"`   // reaches down to zero; not with Log
	Ticks  []float64     `json:"ticks,omitempty"`  // nil: chosen to suit the data
	Labels []string      `json:"labels,omitempty"` // of Ticks; nil: written in Unit
	From   float64       `json:"from"`             // with To: the range at least to be shown; both 0: that of the data
	To     float64       `json:"to"`
}

// Line is one series of the chart, with as many values as the chart has Xs.
type Line struct {
	Name   string `json:"name"`
	Label  string `json:"label,omitempty"`  // what readers see in place of Name, such as its word in their language
	Ink    int    `json:"ink"`              // which colour, dash and marker: 0 is the control's
	Marked bool   `json:"marked,omitempty"` // each value has a marker: there are few, and each was measured for itself
	Dashed bool   `json:"dashed,omitempty"` // in letters; elsewhere the ink says it
	Values Values `json:"values"`
	Low    Values `json:"low,omitempty"` // with High: a band, the interval of each value or the range it stands for
	High   Values `json:"high,omitempty"`
}

// Shown is what readers see of a line's name.
func (l Line) Shown() string { return cmp.Or(l.Label, l.Name) }

// Span is a shaded interval of the x axis.
type Span struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Name string  `json:"name"`
	Tint Tint    `json:"tint"`
}

// Tint is what a span means, and so how it is shaded.
type Tint string

// The tints.
const (
	Aside     Tint = "aside"     // not judged: warm-up
	Calm      Tint = "calm"      // what the rest is compared with; not shaded
	Disturbed Tint = "disturbed" // something is done to the cluster
	Recovery  Tint = "recovery"
	Step      Tint = "step" // a part of what is done to the cluster
)

// Cut tells whether the chart cannot show the whole of an interval: one that reaches down to zero, which is nowhere
// on a log axis, or has no bound.
func (c Chart) Cut() bool {
	for _, l := range c.Lines {
		for i, v := range l.Values {
			if math.IsNaN(v) || i >= len(l.Low) || i >= len(l.High) {
				continue
			}
			if math.IsNaN(l.Low[i]+l.High[i]) || l.Low[i] <= 0 && v > 0 {
				return true
			}
		}
	}
	return false
}

// Mark is a moment on the x axis.
type Mark struct {
	At   float64 `json:"at"`
	Name string  `json:"name"`
}

// Inks is how many lines can be told apart.
const Inks = 8

// Values are numbers; NaN is a gap. In JSON they have five significant digits and a gap is null.
type Values []float64

// MarshalJSON writes the values.
func (v Values) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(v)+2)
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, significant(x), 'f', -1, 64)
	}
	return append(b, ']'), nil
}

// significant rounds to five significant digits, and never coarser than to a half: a time axis needs its seconds.
func significant(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, math.Max(4-math.Floor(math.Log10(math.Abs(x))), 0))
	if scale == 1 {
		return math.Round(x*2) / 2
	}
	return math.Round(x*scale) / scale
}

// Empty reports whether there is nothing to draw.
func (c Chart) Empty() bool {
	for _, l := range c.Lines {
		for _, v := range l.Values {
			if !math.IsNaN(v) {
				return false
			}
		}
	}
	return true
}
