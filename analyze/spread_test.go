package analyze

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// wrongSide is the chance that an interval of rounds that differ b times more than their seconds explain lies wholly above
// the truth. It is integrated, not simulated: the rounds' variance is χ² distributed, their mean normal.
func wrongSide(rounds int, b float64) float64 {
	const points = 60
	freedom := float64(rounds - 1)
	chi := distuv.ChiSquared{K: freedom}
	total := math.Sqrt(1 + b*b)
	var wrong float64
	for i := range points {
		observed := total * math.Sqrt(chi.Quantile((float64(i)+0.5)/points)/freedom)
		s := spread{within: 1, freedom: 1000, rounds: rounds, between: []between{{err: observed, freedom: freedom}}}
		wrong += distuv.UnitNormal.CDF(-s.half(0.01, 1)/total) / points
	}
	return wrong
}

func TestRoundsMayDifferAsTheyWill(t *testing.T) {
	for _, rounds := range []int{3, 5} {
		for _, b := range []float64{0, 1, 3, 10} {
			if wrong := wrongSide(rounds, b); wrong > 0.0125 {
				t.Errorf("%d rounds that differ %v times more than their seconds explain: %.2f %% on the wrong side", rounds, b, 100*wrong)
			}
		}
	}
}

func TestIntervalComesCloseToStudentsWhenRoundsDiffer(t *testing.T) {
	for rounds, student := range map[int]float64{3: 9.925, 5: 4.604, 10: 3.250} {
		s := spread{within: 1, freedom: 1000, rounds: rounds, between: []between{{err: 50, freedom: float64(rounds - 1)}}}
		if got := s.half(0.01, 1) / 50; got > student || got < 0.6*student {
			t.Errorf("%d rounds: %.2f standard errors, Student's t says %.2f", rounds, got, student)
		}
	}
}

func TestIntervalComesCloseToTheSecondsWhenRoundsAgree(t *testing.T) {
	for rounds, most := range map[int]float64{3: 6.6, 5: 3.7, 10: 2.9} {
		s := spread{within: 1, freedom: 1000, rounds: rounds, between: []between{{err: 1, freedom: float64(rounds - 1)}}}
		if got := s.half(0.01, 1); got > most || got < 2.576 {
			t.Errorf("%d rounds that agree: %.2f standard errors, want 2.58 to %.1f", rounds, got, most)
		}
	}
}

func TestOneRoundIsStudentsOverItsBlocks(t *testing.T) {
	s := spread{within: 2, freedom: 4, rounds: 1}
	if got := s.half(0.01, 1); !near(got, 2*4.604, 0.01) {
		t.Errorf("half %v, want 9.21", got)
	}
}

func TestIntervalShrinksWithConfidenceAndData(t *testing.T) {
	for _, s := range []spread{
		{within: 1, freedom: 20, rounds: 1},
		{within: 1, freedom: 50, rounds: 3, between: []between{{err: 0.2, freedom: 2}}},
		{within: 1, freedom: 50, rounds: 3, between: []between{{err: 3, freedom: 2}, {err: 4, freedom: 3.5}}},
		{within: 0, freedom: 50, rounds: 5, between: []between{{err: 3, freedom: 4}}},
	} {
		if !(s.half(0.001, 1) > s.half(0.01, 1) && s.half(0.01, 1) > s.half(0.1, 1)) {
			t.Errorf("%+v: wider at lower confidence", s)
		}
		if !(s.half(0.01, 1) > s.half(0.01, 2) && s.half(0.01, 2) > s.half(0.01, 5)) {
			t.Errorf("%+v: wider with more data", s)
		}
	}
}
