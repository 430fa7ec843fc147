package trial

import (
	"slices"
	"testing"

	"plimsoll/load"
)

func TestOneFaultOfManyPhasesIsOneReason(t *testing.T) {
	d := doubts{judged: 6}
	stall := func(excess float64, detail string) load.Reason {
		return load.Reason{What: load.Stalled, Excess: excess, Detail: detail}
	}
	d.add("a, round 1, measure", stall(2, "at all"))
	d.add("b, round 1, measure", load.Reason{What: load.Capped, Detail: "in 5 % of the time"})
	d.add("a, round 2, measure", stall(7, "for 300ms"))
	d.add("b, round 2, measure", stall(3, "for 100ms"))
	want := []string{
		"in 3 of 6 measured phases, worst in a, round 2, measure: the load generator got no turn for 300ms",
		"b, round 1, measure: all connections were busy while operations waited in 5 % of the time",
	}
	if got := d.reasons(); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestCountsNeedNoTimelyGenerator(t *testing.T) {
	head := "trial: t\ncluster: {engine: mysql}\nload: {workload: oltp, ledger: {rate: 5}}\ntimeline:\n  - run: lab/freeze\n"
	for expect, want := range map[string]bool{
		"":                                false,
		"  - lost_writes == 0\n":          true,
		"  - recovery_point < 1s\n":       true,
		"  - recovery_time < 1s\n":        false,
		"  - lost_writes + errors == 0\n": false,
		"  - lost_writes == 0\n  - throughput > 1\n": false,
	} {
		text := head
		if expect != "" {
			text += "expect:\n" + expect
		}
		if got := parse(t, text, Options{}).countsOnly(); got != want {
			t.Errorf("%q: %v", expect, got)
		}
	}
}
