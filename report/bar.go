package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"plimsoll/analyze"
	"plimsoll/report/quantity"
)

// The interval bar's room, in user units; a phone shows it at about this size.
const (
	barWidth  = 320.0
	barHeight = 58.0
	barLine   = 30.0 // where the whisker lies
)

// bar draws a finding: the side that passes shaded, the margin as a line, the interval as a whisker, the estimate as a dot.
func bar(f analyze.JudgedClaim) template.HTML {
	if !judged(f) {
		return ""
	}
	at := barScale(f)
	unit := quantity.Unit(f.Unit)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="bar %s" viewBox="0 0 %g %g" role="img" aria-label="%s">`,
		strings.ToLower(string(f.Verdict)), barWidth, barHeight, html.EscapeString(sentence(f)))
	margin := at(f.Margin)
	switch {
	case passes(f, true):
		fmt.Fprintf(&b, `<rect class="side" x="%.1f" y="18" width="%.1f" height="24"/>`, margin, barWidth-margin)
	case passes(f, false):
		fmt.Fprintf(&b, `<rect class="side" x="0" y="18" width="%.1f" height="24"/>`, margin)
	}
	fmt.Fprintf(&b, `<path class="axis" d="M0 %gH%g"/>`, barLine, barWidth)
	fmt.Fprintf(&b, `<path class="margin" d="M%.1f 15V45"/>`, margin)
	fmt.Fprintf(&b, `<text x="%.1f" y="56" class="%s">%s %s</text>`, margin, anchor(margin), html.EscapeString(f.Op), unit.Tick(f.Margin))
	if f.High > f.Low && !math.IsInf(f.Low, 0) && !math.IsInf(f.High, 0) { // else the sentence beside it says that there is no interval
		low, high := at(f.Low), at(f.High)
		fmt.Fprintf(&b, `<path class="whisker" d="M%.1f %gH%.1fM%.1f 25v10M%.1f 25v10"/>`, low, barLine, high, low, high)
	}
	estimate := at(f.Estimate)
	fmt.Fprintf(&b, `<circle cx="%.1f" cy="%g" r="5"/><text x="%.1f" y="12" class="value %s">%s</text></svg>`,
		estimate, barLine, estimate, anchor(estimate), unit.Format(f.Estimate))
	return template.HTML(b.String()) //nolint:gosec // built here from numbers and escaped text
}

// barScale places a finding's numbers so that all are seen with room beside them; ratios and wide ranges on a log scale.
func barScale(f analyze.JudgedClaim) func(v float64) float64 {
	low, high := min(f.Estimate, f.Margin), max(f.Estimate, f.Margin)
	if !math.IsInf(f.Low, 0) && !math.IsInf(f.High, 0) {
		low, high = min(low, f.Low), max(high, f.High)
	}
	scale := func(v float64) float64 { return v }
	if low > 0 && (f.Unit == string(quantity.Ratio) || high/low > 20) {
		scale = math.Log
	}
	from, to := scale(low), scale(high)
	room := (to - from) * 0.18
	if room == 0 {
		room = max(math.Abs(from), 1)
	}
	from, to = from-room, to+room
	return func(v float64) float64 {
		if math.IsInf(v, -1) || low > 0 && v <= 0 {
			return 0
		}
		return min((scale(v)-from)/(to-from), 1) * barWidth
	}
}

// anchor keeps a label at the edge inside of the picture.
func anchor(x float64) string {
	switch {
	case x < 40:
		return "start"
	case x > barWidth-40:
		return "end"
	default:
		return "middle"
	}
}
