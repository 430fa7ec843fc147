package judge

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/load"
	"plimsoll/series"
)

// written is a result in which each operation takes so many milliseconds, a little more in every other second.
func written(t *testing.T, loadText string, operations map[string]int) *result.Result {
	t.Helper()
	return writtenRounds(t, loadText, []int{100, 100, 100, 100}, operations)
}

// writtenRounds is a result in which so many of each operation are done in a second of each round.
func writtenRounds(t *testing.T, loadText string, rounds []int, operations map[string]int) *result.Result {
	t.Helper()
	dir, began := t.TempDir()+"/result", time.UnixMilli(1_700_000_000_000)
	f, err := result.Create(dir, []byte("trial: t\nload: "+loadText+"\n"), began)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 * len(rounds) {
		done := int64(rounds[n/20] + n%2)
		s := load.Second{Start: began.Add(time.Duration(n) * Second), Length: Second}
		for name, millis := range operations {
			h := series.NewHistogram()
			h.RecordN(time.Duration(millis)*time.Millisecond+time.Duration(n%2)*50*time.Microsecond, done)
			s.Operations = append(s.Operations, series.Interval{
				Start: s.Start, Length: s.Length, Operation: name, Tally: series.Tally{Scheduled: done, Done: done}, Response: h.Snapshot(), Service: h.Snapshot(),
			})
		}
		if _, err := f.Second("", 1+n/20, "measure", s); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := result.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The figures side by side are of the rounds that the change is of, and what has no round beside it is said.
func TestComparedFiguresAreOfTheSameRounds(t *testing.T) {
	six := writtenRounds(t, "{workload: kv}", []int{100, 100, 400, 400, 400, 400}, map[string]int{"read": 1})
	two := writtenRounds(t, "{workload: kv}", []int{150, 150}, map[string]int{"read": 1})
	v, err := CompareResults(six, two)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range v.Differences {
		if !slices.Equal(d.Rounds, []int{1, 2}) || math.Abs(d.Second.Value/d.First.Value-d.Ratio.Estimate) > 1e-9 {
			t.Errorf("%s of rounds %v: %g and %g stand beside a ratio of %g", d.Metric, d.Rounds, d.First.Value, d.Second.Value, d.Ratio.Estimate)
		}
	}
	if len(v.Unpaired) != 1 || v.Unpaired[0].In != six.Dir || !slices.Equal(v.Unpaired[0].Rounds, []int{3, 4, 5, 6}) {
		t.Errorf("unpaired: %+v", v.Unpaired)
	}
	want := "measure: rounds 3, 4, 5 and 6 are only in " + six.Dir + " and left out; all figures are of rounds 1 and 2 of both results"
	if !slices.Contains(v.Notes, want) {
		t.Errorf("no note %q among %q", want, v.Notes)
	}
	six.Verdict.Verdict, six.Verdict.Partial, two.Verdict.Verdict, two.Verdict.Partial = analyze.Invalid, false, analyze.Invalid, true
	if v, err = CompareResults(six, two); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Invalid, []string{six.Dir, two.Dir}) {
		t.Errorf("invalid: %q", v.Invalid)
	}
	for _, want := range []string{six.Dir + " is INVALID: its report says why", two.Dir + " is INVALID and partial: its report says why"} {
		if !slices.Contains(v.Notes, want) {
			t.Errorf("no note %q among %q", want, v.Notes)
		}
	}
}

// Who compares two trials of one runbook reads in which inputs they differ.
func TestComparedTrialsNameOtherInputs(t *testing.T) {
	trial := func(value, more string) *result.Result {
		return &result.Result{Source: "trial: t\ntimeline:\n  - baseline: 1s\n  - run: mysql/set-variable\n    with: {name: max_connections, value: " + value + more + "}\n"}
	}
	want := []string{"the inputs of mysql/set-variable differ: persist none, also", "the inputs of mysql/set-variable differ: value 500, 600"}
	if got := otherInputs(trial("500", ""), trial("600", ", persist: also")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := otherInputs(trial("500", ""), trial(`"500"`, "")); len(got) > 0 {
		t.Errorf("of the same inputs: %q", got)
	}
}

// What two different loads have in common is compared, and no more.
func TestResultsOfDifferentLoads(t *testing.T) {
	kv := written(t, "{workload: kv, records: 1M, connections: 50}", map[string]int{"read": 1, "insert": 2, "update": 2})
	latte := written(t, "{workload: own.yaml, rate: 1000, connections: 64}", map[string]int{"insert": 4, "cached-insert": 4, "select": 1})
	v, err := CompareResults(kv, latte)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Differences) == 0 {
		t.Fatal("insert is not compared")
	}
	for _, d := range v.Differences {
		if d.Operation != "insert" || d.Metric == "throughput" || !strings.HasPrefix(d.Metric, "service_") || d.Metric == "service_p50" && !d.Differs || d.Ratio.Estimate < 1.8 {
			t.Errorf("%+v", d)
		}
	}
	for _, want := range []string{
		"workload kv, own.yaml; records 1M, none; connections 50, 64; rate none, 1000", "the throughput is not compared",
		"read, update: only in " + kv.Dir, "cached-insert, select: only in " + latte.Dir,
	} {
		if !slices.ContainsFunc(v.Notes, func(note string) bool { return strings.Contains(note, want) }) {
			t.Errorf("no note %q among %q", want, v.Notes)
		}
	}
	apart := written(t, "{workload: kv, rate: 100}", map[string]int{"delete": 1})
	if _, err := CompareResults(kv, apart); err == nil {
		t.Error("results without an operation in common were compared")
	} else if said := hint.Of(err); strings.Contains(said, "below") || strings.Contains(said, "not compared") || // nothing is below
		!strings.Contains(said, "delete: only in "+apart.Dir+"; the loads differ: records 1M, none; connections 50, none; rate none, 100") {
		t.Errorf("of nothing in common: %q", said)
	}
	faster := written(t, "{workload: kv, records: 1M, connections: 50}", map[string]int{"read": 2, "insert": 2, "update": 2})
	same, err := CompareResults(kv, faster)
	if err != nil || slices.ContainsFunc(same.Notes, func(note string) bool { return strings.Contains(note, "differ") }) || same.Differences[0].Metric != "throughput" || same.Differences[0].Operation != "" {
		t.Errorf("%+v, %v", same, err)
	}
	mean := slices.IndexFunc(same.Differences, func(d result.Difference) bool { return d.Metric == "response_mean" })
	if mean < 0 || math.Abs(same.Differences[mean].Ratio.Estimate-2.025/(5.075/3)) > 0.02 { // of the three operations together
		t.Errorf("the mean response: %+v", same.Differences)
	}
	slow, fast := written(t, "{workload: kv, rate: 100}", map[string]int{"read": 1}), written(t, "{workload: kv, rate: 200}", map[string]int{"read": 1})
	rates, err := CompareResults(slow, fast)
	if err != nil || rates.Differences[0].Metric != "response_p50" || !slices.Contains(rates.Notes, "the throughput is the configured rate, and is not compared") {
		t.Errorf("%+v, %v", rates, err)
	}
}

// A rate that is a share of the maximum is what was found, not what was written.
func TestResultsOfOneShareOfTwoMaxima(t *testing.T) {
	at := func(most float64) *result.Result {
		r := written(t, "{workload: kv, rate: 50% of max}", map[string]int{"read": 1})
		r.Events = append(r.Events, series.Event{Kind: "load.maximum", Detail: map[string]any{"per_second": most}})
		return r
	}
	far, err := CompareResults(at(11310), at(36308))
	if err != nil || far.Differences[0].Metric == "throughput" ||
		!slices.ContainsFunc(far.Notes, func(note string) bool {
			return strings.Contains(note, "rate 50% of max (5655/s), 50% of max (18154/s)")
		}) ||
		!slices.Contains(far.Notes, "the throughput is the configured rate, and is not compared") {
		t.Errorf("%+v, %v", far, err)
	}
	near, err := CompareResults(at(11310), at(11360))
	if err != nil || slices.ContainsFunc(near.Notes, func(note string) bool { return strings.Contains(note, "rate") }) || near.Differences[0].Metric != "throughput" {
		t.Errorf("%+v, %v", near, err)
	}
}
