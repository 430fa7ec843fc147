package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/result"
	"plimsoll/trial/expect"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

// A warm-up is not judged: a trial that ended in it has no measurements to show.
func TestATrialThatEndedInItsWarmUpHasMeasuredNothing(t *testing.T) {
	trial := spectest.Parse(t, spectest.Disturbing, spec.Options{Set: []string{"seed=1"}})
	for phase, unmeasured := range map[string]bool{expect.Warmup: true, "baseline": false} {
		var r Recording
		r.Begin(PhaseRecord{Round: 1, Phase: expect.Warmup}).All = seconds(5, 1000, time.Millisecond, 0)
		if phase != expect.Warmup {
			r.Begin(PhaseRecord{Round: 1, Phase: phase}).All = seconds(5, 1000, time.Millisecond, 0)
		}
		v := Verdict(trial, &r, Course{Ended: &result.Ended{How: result.Interrupted, Where: "round 1, " + phase}, Partial: true})
		if v.Ended.Unmeasured != unmeasured || slices.Contains(v.Reasons, nothingMeasured) != unmeasured {
			t.Errorf("ended in %s: unmeasured is %v, %q", phase, v.Ended.Unmeasured, v.Reasons)
		}
		if judged := strings.Contains(strings.Join(v.Reasons, "\n"), "the data cannot tell"); judged == unmeasured {
			t.Errorf("ended in %s: %q", phase, v.Reasons)
		}
	}
}

// A trial that could not run to its end does not blame its data for what it did not come to measure.
func TestATrialThatCouldNotRunDoesNotBlameItsData(t *testing.T) {
	trial := spectest.Parse(t, spectest.Disturbing, spec.Options{Set: []string{"seed=1"}})
	for how, blamed := range map[result.How]bool{result.CouldNotRun: false, result.Interrupted: true} {
		var r Recording
		r.Begin(PhaseRecord{Round: 1, Phase: "baseline"}).All = seconds(5, 1000, time.Millisecond, 0)
		v := Verdict(trial, &r, Course{Ended: &result.Ended{How: how, Where: "round 1", Why: "the disk is full"}, Partial: true})
		if said := strings.Join(v.Reasons, "\n"); strings.Contains(said, "the data cannot tell") != blamed || !strings.Contains(said, "the disk is full") {
			t.Errorf("%s: %q", how, v.Reasons)
		}
		if n := strings.Count(strings.Join(v.Reasons, "\n"), "the data cannot tell"); v.ReasonsOfClaims != n {
			t.Errorf("%s: %d reasons of claims, want %d", how, v.ReasonsOfClaims, n)
		}
	}
}
