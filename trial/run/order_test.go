package run

import (
	"testing"

	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

func TestOrderIsBalanced(t *testing.T) {
	trial := spectest.Parse(t, spectest.Comparing, spec.Options{})
	const rounds = 4
	place := map[string]int{}
	for round := 1; round <= rounds; round++ {
		got := order(trial.Cells, round, rounds)
		for i, c := range got {
			place[c.Name] += i
		}
		if len(got) != 4 {
			t.Fatalf("round %d: %d cells", round, len(got))
		}
	}
	for name, sum := range place {
		if mean := float64(sum) / rounds; mean < 0.9 || mean > 2.1 {
			t.Errorf("%s stands at place %v on average, want the middle", name, mean)
		}
	}
}
