package trial

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/analyze"
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

// A generator that was not fit says what to do, each thing once.
func TestAnUnfitGeneratorSaysWhatToDo(t *testing.T) {
	d := doubts{judged: 2}
	for _, what := range []load.Fault{load.Late, load.Stalled, load.Capped} {
		d.add("measure", load.Reason{What: what})
	}
	got := d.advice()
	if len(got) != 2 || !strings.Contains(got[0], "sudo chrt -a -r -p 1 $(pgrep -nx plimsoll)") || !strings.Contains(got[1], "more connections") {
		t.Errorf("%q", got)
	}
	r := runner{trial: &Trial{}, doubts: d}
	if v := r.judge(nil); v.Verdict != analyze.Invalid || !slices.Equal(v.Advice, got) {
		t.Errorf("%+v", v)
	}
	if v := (&runner{trial: &Trial{}}).judge(nil); v.Advice != nil {
		t.Errorf("advice for nothing: %q", v.Advice)
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
