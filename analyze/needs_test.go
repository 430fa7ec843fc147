package analyze

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// foreseen are the bounds of a number of rounds that are needed; 0 where none are told.
func foreseen(needs string) (least, most int) {
	if n, _ := fmt.Sscanf(needs, "between %d and %d", &least, &most); n == 2 {
		return least, most
	}
	if n, _ := fmt.Sscanf(needs, "about %d more", &least); n == 1 {
		return least, least
	}
	return 0, 0
}

// How many rounds are needed is a range that holds, in three of four trials at least, or it is said that it cannot be known yet.
func TestTheRangeOfRoundsNeededHolds(t *testing.T) {
	t.Logf("seed %d", testSeed)
	const most, start = 40, 4
	rng := newRand()
	told, held, unknown := 0, 0, 0
	for range 60 {
		measure := func(level float64) Quantity {
			q := Quantity{Statistic: Throughput()}
			for range most {
				q.Rounds = append(q.Rounds, counted(epoch, noisy(rng, 20, 1000*level*math.Exp(0.03*rng.NormFloat64()), 0.02, 0)...))
			}
			return q
		}
		over, under := measure(0.94), measure(1)
		judged := func(rounds int) JudgedClaim {
			a, b := over, under
			a.Rounds, b.Rounds = a.Rounds[:rounds], b.Rounds[:rounds]
			claim := Claim{Op: ">", Margin: 0.9, Ratio: true, Estimate: func(v []float64) float64 { return v[0] / v[1] }, Quantities: []Quantity{a, b}}
			return Judge([]Claim{claim}, Options{Confidence: 0.95, Replicates: 50})[0]
		}
		f := judged(start)
		least, latest := foreseen(f.Needs)
		switch {
		case f.Verdict != Inconclusive:
			continue
		case latest == 0:
			if !strings.Contains(f.Needs, "cannot be known yet") && !strings.Contains(f.Needs, "at the margin") {
				t.Errorf("needs %q", f.Needs)
			}
			unknown++
			continue
		}
		told++
		for rounds := start + 1; rounds <= most; rounds++ {
			if judged(rounds).Verdict != Inconclusive {
				if more := rounds - start; more >= least && more <= latest {
					held++
				}
				break
			}
		}
	}
	t.Logf("%d ranges, %d of them held; %d times it could not be known", told, held, unknown)
	if told < 15 || 4*held < 3*told || unknown == 0 {
		t.Error("the ranges do not hold")
	}
}

// Of two rounds there is one difference: how many are needed cannot be known from it.
func TestTwoRoundsForeseeNothing(t *testing.T) {
	f := Judge([]Claim{versus(cell(2, 2, 1000), cell(1, 2, 1000), 0.985)}, Options{})[0]
	if f.Verdict != Inconclusive || !strings.Contains(f.Needs, "cannot be known yet") {
		t.Errorf("%s, needs %q", f.Verdict, f.Needs)
	}
}

// Where rounds must agree, one of them decides nothing; but what is a fact refutes.
func TestASingleRoundDecidesNothing(t *testing.T) {
	none, some := 0.0, 3.0
	claims := []Claim{
		versus(cell(2, 1, 1000), cell(1, 1, 1000), 0.5),
		versus(cell(2, 1, 1000), cell(1, 1, 1000), 1.5),
		{Op: "==", Margin: 0, Estimate: func(v []float64) float64 { return v[0] }, Quantities: []Quantity{{Exact: &none}}, Rounds: 1},
		{Op: "==", Margin: 0, Estimate: func(v []float64) float64 { return v[0] }, Quantities: []Quantity{{Exact: &some}}, Rounds: 1},
	}
	for agree, want := range map[bool][]Answer{false: {Pass, Fail, Pass, Fail}, true: {Inconclusive, Inconclusive, Inconclusive, Fail}} {
		for i, f := range Judge(claims, Options{Agreement: agree}) {
			if f.Verdict != want[i] || f.Verdict == Inconclusive && f.Needs != anotherRound {
				t.Errorf("rounds must agree %v: claim %d is %s, needs %q; want %s", agree, i, f.Verdict, f.Needs, want[i])
			}
		}
	}
	if f := Judge([]Claim{versus(cell(2, 3, 1000), cell(1, 3, 1000), 0.5)}, Options{Agreement: true})[0]; f.Verdict != Pass {
		t.Errorf("three rounds that agree: %+v", f)
	}
}

// A number of rounds is told no more exactly than it is known, and never as less than is needed.
func TestNumbersOfRoundsAreRoundedOutward(t *testing.T) {
	for n, want := range map[int][2]int{1: {1, 1}, 9: {9, 9}, 10: {10, 10}, 11: {10, 15}, 34: {30, 35}, 35: {35, 35}, 57: {55, 60}, 134: {130, 140}, 676: {650, 700}, 1234: {1200, 1300}} {
		if got := [2]int{down(n), up(n)}; got != want {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
	close := func(rounds int, unlucky float64) bool {
		return rounds >= map[bool]int{true: 37, false: 38}[unlucky < 0.5]
	}
	if got, want := roundsNeeded(3, close), "between 30 and 35 more rounds"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
