package judge

import (
	"math"
	"slices"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

type single struct{ workload.Workload }

func (single) Operations() []string { return []string{"read"} }

// A trial that was cut off between two cells shows of both only what both have: a value, the control's and the change of one to the
// other belong together.
func TestFiguresOfACutOffComparisonAreOfTheSameRounds(t *testing.T) {
	const off, on = "off", "on"
	trial := &spec.Trial{Spec: spec.Spec{Compare: spec.Compare{Variants: []spec.Variant{{Name: off}, {Name: on}}}}}
	for i, name := range []string{off, on} {
		c := &spec.Cell{Workload: single{}}
		c.Name, c.Variant, c.Control = name, name, i == 0
		trial.Cells = append(trial.Cells, c)
	}
	r := &Recording{}
	round := func(cell string, number, done int) {
		s := r.Begin(PhaseRecord{Cell: cell, Round: number, Phase: "measure", From: time.Unix(int64(1000*number), 0)})
		for i := range 30 {
			n := int64(done + i%3)
			s.All = append(s.All, analyze.Second{Start: s.From.Add(time.Duration(i) * Second), Length: Second, Tally: series.Tally{Scheduled: n, Done: n}})
		}
	}
	for number, done := range []int{100, 100, 900} {
		round(off, number+1, done)
	}
	round(on, 1, 120)
	round(on, 2, 120)
	cells := Cells(trial, r, trial.Options())
	control, other := figureOf(t, cells[0]), figureOf(t, cells[1])
	if math.Abs(other.Estimate.Value/control.Estimate.Value-other.Ratio.Value) > 1e-9 {
		t.Errorf("%g beside %g, and a ratio of %g", other.Estimate.Value, control.Estimate.Value, other.Ratio.Value)
	}
	want := []string{"off: round 3 is left out of its figures and ratios, which are from rounds 1 and 2: the other cells were not measured in more rounds."}
	if got := LeftOut(trial, r); !slices.Equal(got, want) {
		t.Errorf("notes %q, want %q", got, want)
	}
}

func figureOf(t *testing.T, c result.Cell) result.Figure {
	t.Helper()
	i := slices.IndexFunc(c.Figures, func(f result.Figure) bool { return f.Metric == "throughput" })
	if i < 0 {
		t.Fatalf("%s has no throughput", c.Name)
	}
	return c.Figures[i]
}
