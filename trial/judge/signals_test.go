package judge

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
	"plimsoll/trial/expect"
	"plimsoll/trial/spec"
)

const lag = "mysql.replica_lag_seconds.n1"

// observing is a trial of one expectation about signals, with two phases of 20 s: a baseline and a change.
func observing(t *testing.T, text string) (*spec.Trial, *Recording) {
	t.Helper()
	trial := &spec.Trial{Cells: []*spec.Cell{{}}, OneRound: true}
	trial.Confidence = 0.99
	compiler := expect.Vocabulary{Phases: []string{"baseline", "change"}, Rounds: 1}
	all, err := compiler.Compile(expect.Expectation{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	trial.Expectations = all
	r := &Recording{}
	r.Begin(PhaseRecord{Round: 1, Phase: "baseline", From: time.Unix(100, 0)}).To = time.Unix(120, 0)
	r.Begin(PhaseRecord{Round: 1, Phase: "change", Change: true, From: time.Unix(120, 0)}).To = time.Unix(140, 0)
	return trial, r
}

// reads are a node's readings once a second from a time on; a NaN is none.
func reads(node string, from int64, values ...float64) []series.Point {
	var out []series.Point
	for i, v := range values {
		if !math.IsNaN(v) {
			out = append(out, series.Point{Time: time.Unix(from+int64(i), 0), Signal: lag, Node: node, Value: v})
		}
	}
	return out
}

// times is a value so many times.
func times(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func TestSignalsAreJudgedByWhatWasRead(t *testing.T) {
	none := math.NaN()
	most := `highest("` + lag + `").during("change") < 5`
	for _, c := range []struct {
		what, expect string
		points       []series.Point
		want         analyze.Answer
		estimate     float64
		needs        string
	}{
		{"all along", most, reads("n5", 120, append(times(19, 1), 3)...), analyze.Pass, 3, ""},
		{"above the bound", most, reads("n5", 120, append(times(19, 1), 5)...), analyze.Fail, 5, ""},
		{"never", most, reads("n5", 100, times(20, 0)...), analyze.Inconclusive, none, lag + " on n5: there were none"},
		{"nobody", most, nil, analyze.Inconclusive, none, "there were none"},
		{"a gap", most, reads("n5", 120, append(append(times(6, 1), times(8, none)...), times(7, 1)...)...), analyze.Inconclusive, none, "none for 9s"},
		{"a gap that cannot help", most, reads("n5", 120, append(append(times(6, 7), times(8, none)...), times(7, 1)...)...), analyze.Fail, 7, ""},
		{"it ended", most, reads("n5", 120, times(10, 1)...), analyze.Inconclusive, none, "none for 11s"},
		{"a change brought it about", most, reads("n5", 131, times(9, 1)...), analyze.Pass, 1, ""},
		{"shown before, and then late", most, append(reads("n5", 118, 0, 0), reads("n5", 131, times(9, 1)...)...), analyze.Inconclusive, none, "none for 11s"},
		{"late in a baseline", `highest("` + lag + `").baseline < 5`, reads("n5", 110, times(10, 1)...), analyze.Inconclusive, none, "none for 10s"},
		{"the least is low enough", `lowest("` + lag + `").during("change") >= 1`, reads("n5", 120, append(times(10, 2), times(10, 1)...)...), analyze.Pass, 1, ""},
		{"the last", `last("` + lag + `").during("change") == 0`, reads("n5", 135, 9, 8, 7, 0, 0), analyze.Pass, 0, ""},
		{"the last is old", `last("` + lag + `").during("change") == 0`, reads("n5", 120, times(10, 0)...), analyze.Inconclusive, none, "none for 11s"},
		{"the mean", `mean("` + lag + `").during("change") < 2`, reads("n5", 120, append(times(10, 1), times(10, 1.1)...)...), analyze.Pass, 1.05, ""},
		{"the mean of another node", `mean("` + lag + `").on("n6").during("change") < 2`, reads("n5", 120, times(20, 1)...), analyze.Inconclusive, none, "on n6: there were none"},
		{"less is no refutation", `10 - highest("` + lag + `").during("change") < 5`, reads("n5", 120, append(append(times(6, 1), times(8, none)...), times(7, 1)...)...), analyze.Inconclusive, none, "none for 9s"},
	} {
		trial, r := observing(t, c.expect)
		r.Keep("", 1, c.points, trial.NamesSignal)
		findings := analyze.Judge(claims(trial, r), trial.Options())
		if len(findings) != 1 {
			t.Errorf("%s: %d findings", c.what, len(findings))
			continue
		}
		f := findings[0]
		same := math.IsNaN(c.estimate) && math.IsNaN(f.Estimate) || math.Abs(f.Estimate-c.estimate) < 1e-9
		if f.Verdict != c.want || !same || !strings.Contains(f.Needs, c.needs) {
			t.Errorf("%s: %s, estimate %v, needs %q; want %s, %v, %q", c.what, f.Verdict, f.Estimate, f.Needs, c.want, c.estimate, c.needs)
		}
	}
}

func TestAnExpectationThatNamesNoNodeHoldsOnEach(t *testing.T) {
	trial, r := observing(t, `highest("`+lag+`") < 5`)
	r.Keep("", 1, append(reads("n6", 100, times(40, 9)...), reads("n5", 100, times(40, 1)...)...), trial.NamesSignal)
	findings := analyze.Judge(claims(trial, r), trial.Options())
	if len(findings) != 2 || findings[0].Verdict != analyze.Pass || findings[1].Verdict != analyze.Fail || !strings.HasSuffix(findings[1].Expect, " on n6") {
		t.Errorf("got %+v", findings)
	}
	shown := r.shown(r.Phases[1])
	if len(shown) != 2 || shown[0].Node != "n5" || shown[1].Highest != 9 || shown[1].Unit != "seconds" || shown[1].Readings != 20 {
		t.Errorf("shown in the change: %+v", shown)
	}
}

func TestARoundWithoutReadingsIsNotPassed(t *testing.T) {
	trial, r := observing(t, `highest("`+lag+`").during("change") < 5`)
	r.Begin(PhaseRecord{Round: 2, Phase: "change", Change: true, From: time.Unix(220, 0)}).To = time.Unix(240, 0)
	r.Keep("", 1, reads("n5", 120, times(20, 1)...), trial.NamesSignal)
	r.Keep("", 2, nil, trial.NamesSignal)
	f := analyze.Judge(claims(trial, r), trial.Options())[0]
	if f.Verdict != analyze.Inconclusive || !strings.Contains(f.Needs, "a round had none") {
		t.Errorf("got %s, needs %q", f.Verdict, f.Needs)
	}
}
