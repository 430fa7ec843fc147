package report

import (
	"math"
	"strings"
	"testing"

	"plimsoll/analyze"
)

// Where the sentence says that nothing is known of how sure a value is, the picture beside it draws no interval.
func TestABarDrawsNoIntervalThatTheSentenceDenies(t *testing.T) {
	f := analyze.JudgedClaim{Estimate: 0.5, Low: 0.2, High: 0.8, Confidence: 0.99, Margin: 0.9, Op: ">", Unit: "ratio"}
	if !strings.Contains(string(bar(f)), `class="whisker"`) {
		t.Error("an interval is not drawn")
	}
	f.High = math.Inf(1)
	if got := string(bar(f)); !strings.Contains(got, "too briefly to say how sure") || strings.Contains(got, `class="whisker"`) {
		t.Error(got)
	}
}
