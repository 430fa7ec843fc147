package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
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
		"in 3 of 6 measured phases, worst in a, round 2, measure: the load generator was short of CPU for 300ms",
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
	if len(got) != 2 || !strings.Contains(got[0], "sudo chrt -a -R -r -p 1 $(pgrep -nf 'plimsoll.* (trial run|load run|rehearse) ')") || !strings.Contains(got[1], "more connections") {
		t.Errorf("%q", got)
	}
	r := runner{trial: &spec.Trial{}, records: records{doubts: d}}
	if v := conclusion(&r, nil); v.Verdict != analyze.Invalid || !slices.Equal(v.Advice, got) {
		t.Errorf("%+v", v)
	}
	if v := conclusion((&runner{trial: &spec.Trial{}}), nil); v.Advice != nil {
		t.Errorf("advice for nothing: %q", v.Advice)
	}
}

// A change's steps are executed where the load comes from: where that made operations late, the report says so, and how much it is.
func TestLatenessDuringAChangeIsAdmitted(t *testing.T) {
	response := func(p99 time.Duration) series.Snapshot {
		h := series.NewHistogram()
		for range 100 {
			h.Record(p99)
		}
		return h.Snapshot()
	}
	r := &runner{trial: &spec.Trial{}}
	d := cellRun{records: &r.records}
	d.admit("round 1, grow", 28*time.Millisecond, response(32*time.Millisecond))
	d.admit("round 1, stall", 28*time.Millisecond, response(900*time.Millisecond))
	d.admit("round 1, quick", 900*time.Microsecond, response(time.Millisecond))
	r.doubtGenerator()
	if len(d.notes) != 1 || !strings.Contains(d.notes[0], "round 1, grow: operations started late although connections were free (p99 28ms of 32") || len(d.invalid) != 0 {
		t.Errorf("notes %q, invalid %q", d.notes, d.invalid)
	}
	d.admit("round 2, grow", 40*time.Millisecond, response(80*time.Millisecond))
	if got := d.admitted.reasons(); len(got) != 1 || !strings.HasPrefix(got[0], "in 2 of 4 measured phases, worst in round 2, grow: ") {
		t.Errorf("%q", got)
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
		"  - errors == 0\n":               false,
		"  - error_share == 0\n":          false,
		"  - lost_writes == 0\n  - throughput > 1\n": false,
	} {
		text := head
		if expect != "" {
			text += "expect:\n" + expect
		}
		if got := spectest.Parse(t, text, spec.Options{}).CountsOnly(); got != want {
			t.Errorf("%q: %v", expect, got)
		}
	}
}
