package report

import (
	"regexp"
	"testing"

	"plimsoll/report/reporttest"
)

// The page of a comparison shows for each variant how throughput and p99 were over time, its rounds laid over each other.
func TestAComparisonShowsItsTailOverTime(t *testing.T) {
	r := reporttest.Comparison()
	page, cells := render(t, r), len(r.Verdict.Cells)
	for _, what := range []string{"throughput", "p99 response"} {
		if drawn := len(regexp.MustCompile(`aria-label="`+what+` of \d+ rounds over time"`).FindAllString(page, -1)); drawn != cells || cells < 2 {
			t.Errorf("%s over time is drawn %d times, of %d cells", what, drawn, cells)
		}
	}
}
