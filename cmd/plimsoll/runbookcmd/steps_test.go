package runbookcmd

import "testing"

func TestOneStepIsNotSaidToBeSeveral(t *testing.T) {
	for n, want := range map[int]string{0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := countOf(n, "step"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
