package report

import (
	"math"
	"strings"
	"testing"

	"plimsoll/analyze"
)

// A difference that the data cannot distinguish from zero is marked beside its bar, as it is in the table below.
func TestABarMarksADifferenceThatMayBeNone(t *testing.T) {
	page := newText(Terminal{})
	page.bars(ranking{Title: "Throughput", Bars: []rank{
		{Name: "small", Value: 0.8, Low: 0.7, High: 0.9, Entry: entry{Value: "50.3"}},
		{Name: "large", Value: 0.9, Low: 0.7, High: 1, Entry: entry{Value: "59.3", Change: "+17.9 %", Tone: same}},
	}})
	if got := page.out.String(); !strings.Contains(got, "59.3 ≈ +17.9 %") || strings.Contains(got, "50.3 ≈") {
		t.Error(got)
	}
}

// Of what was measured too briefly there is no interval: neither in words nor in the picture.
func TestABarDrawsNoIntervalWhereThereIsNone(t *testing.T) {
	f := analyze.JudgedClaim{Verdict: analyze.Inconclusive, Op: ">=", Margin: 0.6, Unit: "ratio"}
	f.Estimate, f.Low, f.High, f.Confidence = 0.507, 0, math.Inf(1), 0.95
	if drawn := string(bar(f)); strings.Contains(drawn, "whisker") || !strings.Contains(drawn, "<circle") {
		t.Errorf("%q is drawn as %s", sentence(f), drawn)
	}
	f.High = 0.9
	if drawn := string(bar(f)); !strings.Contains(drawn, "whisker") {
		t.Errorf("%q is drawn as %s", sentence(f), drawn)
	}
}
