package report

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"testing"

	"plimsoll/result"

	"plimsoll/analyze"
)

// difference is one number in two results; half is half the width of the ratio's interval.
func difference(cell, metric, unit string, first, second, half float64) result.Difference {
	r := second / first
	return result.Difference{
		Cell: cell, Phase: "measure", Metric: metric, Unit: unit,
		First: analyze.Estimate{Value: first}, Second: analyze.Estimate{Value: second},
		Ratio:   analyze.JudgedClaim{Estimate: r, Low: r - half, High: r + half, Confidence: 0.998, Margin: 1, Op: "!=", Unit: "ratio"},
		Differs: math.Abs(r-1) > half,
	}
}

// Where too little was measured for an interval, or it holds any change that there could be, that is said in its place.
func TestAnIntervalOfAnySizeIsNone(t *testing.T) {
	var of []result.Difference
	for _, ends := range [][2]float64{{0, math.Inf(1)}, {1e-9, 1e6}, {0.5, 2e3}} {
		d := difference("", "response_p99", "ms", 1, 1.2, 0)
		d.Ratio.Low, d.Ratio.High, d.Differs = ends[0], ends[1], false
		of = append(of, d)
	}
	rows := differences(of).Rows
	for i, want := range []string{"not known: too little was measured", "not known: too little was measured", "−50.0\u202f% to over ×1,000"} {
		if got := rows[i].Cells[3].Value; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of measurements that are not valid that is said before their numbers.
func TestThatResultsAreInvalidIsSaidFirst(t *testing.T) {
	for want, invalid := range map[string][]string{"Both results are INVALID": {"a", "b"}, "b is INVALID": {"b"}} {
		v := &result.Versus{First: "a", Second: "b", Invalid: invalid, Differences: []result.Difference{difference("", "throughput", "per_second", 100, 101, 0.1)}}
		var text, page bytes.Buffer
		if err := errors.Join(Versus(&text, v, Terminal{Width: 200}), VersusBody(&page, v)); err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(text.Bytes(), []byte(want)); at < 0 || at > bytes.Index(text.Bytes(), []byte("throughput")) {
			t.Errorf("%s", text.String())
		}
		if at := bytes.Index(page.Bytes(), []byte(want)); at < 0 || at > bytes.Index(page.Bytes(), []byte("The data shows no difference")) {
			t.Errorf("%s", page.String())
		}
	}
}

func TestVersus(t *testing.T) {
	v := &result.Versus{
		First: "results/mariadb", Second: "results/mysql",
		Differences: []result.Difference{
			difference("off, connections=4", "throughput", "per_second", 14339, 12100, 0.02),
			difference("off, connections=4", "response_p99", "ms", 1.39, 1.41, 0.11),
			difference("off, connections=16", "throughput", "per_second", 29538, 33100, 0.03),
			difference("off, connections=16", "response_p99", "ms", 2.1, math.NaN(), math.Inf(1)),
		},
		Notes: []string{"on, connections=4, measure is only in results/mariadb"},
	}
	var b bytes.Buffer
	if err := Versus(&b, v, Terminal{Width: 80}); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/versus.txt", b.Bytes())
	b.Reset()
	if err := Versus(&b, v, Terminal{Width: 80, Color: true}); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]string{"worse": `\x1b\[31m *−15\.6 %`, "better": `\x1b\[32m *\+12\.1 %`} {
		if !regexp.MustCompile(change).MatchString(b.String()) {
			t.Errorf("nothing is shown as %s in %q", what, b.String())
		}
	}
}
