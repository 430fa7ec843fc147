package journal

import (
	"slices"
	"testing"
)

// What holds for several steps is said once.
func TestAWarningOfSeveralStepsIsSaidOnce(t *testing.T) {
	p := Plan{Steps: []PlanStep{{Key: "a", Warnings: []string{"until a restart", "alone"}}, {Key: "b", Warnings: []string{"until a restart"}}}}
	if got, want := p.Warnings(), []string{"steps a, b: until a restart", "step a: alone"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
