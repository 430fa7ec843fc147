package judge

import (
	"math"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
)

func TestADipIsPutDownToWhatWasDone(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	change := &PhaseRecord{Change: true, From: at(-5), Looks: []string{"check", "compare", "dead"}, Steps: []Span{
		{"check", at(0), at(0.8)}, {"demote", at(0.8), at(1.7)},
		{"each[n2].restart", at(10), at(19.4)}, {"each[n1].restart", at(19.8), at(30)},
		{"move", at(40.4), at(40.9)}, {"compare", at(40.9), at(43)},
		{"dead", at(50), at(53)},
		{"close", at(70), at(70.3)}, {"open", at(70.3), at(70.4)}, {"repoint", at(70.4), at(70.8)},
		{"keep", at(80), at(80.1)}, {"copy", at(80.1), at(90)},
	}}
	r := Recording{events: []series.Event{{Time: at(49.5), Kind: "node.died", Node: "n1"}}}
	for _, c := range []struct {
		what    string
		onset   float64
		seconds int
		want    string
	}{
		{"a check goes before", 0, 3, "demote"},
		{"one restart follows another", 19, 11, "each[n1].restart"},
		{"it began late in the second before", 41, 2, "move"},
		{"only a comparison is near", 42, 1, "compare"},
		{"the node had died by itself", 50, 3, "node.died n1"},
		{"nothing was done", 60, 2, ""},
		{"nothing was done yet", 60, 24, "no step (10 s before close)"},
		{"the runbook had done nothing yet", -3, 30, "the first checks"},
		{"all in one second", 70, 2, "close"},
		{"a little step goes before", 80, 4, "copy"},
	} {
		if got, _ := r.Cause(change, analyze.Dip{Onset: at(c.onset), Seconds: c.seconds}); got != c.want {
			t.Errorf("%s: put down to %q, want %q", c.what, got, c.want)
		}
	}
}

// A dip that goes on through a whole runbook is divided: the first checks, each step, its streams and the moment in which the new
// node takes its ranges have a worst second each, and the cause is none that came later.
func TestADipIsDividedByWhatItWentThrough(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	change := &PhaseRecord{
		Change: true, From: at(0), Steps: []Span{{"whole", at(4), at(5)}, {"join", at(5), at(20)}, {"others[n1].cleanup", at(21), at(30)}},
		Streams: []Span{{"bootstrap", at(10), at(14)}}, Promotions: []Span{{Promotion, at(18.2), at(18.7)}},
	}
	seconds := func(from, n int, slow map[int]int) (out []analyze.Second) {
		for i := range n {
			h := series.NewHistogram()
			h.RecordN(time.Duration(10+slow[from+i])*time.Millisecond, 100)
			out = append(out, analyze.Second{Start: at(float64(from + i)), Length: Second, Tally: series.Tally{Scheduled: 100, Done: 100}, Response: h.Snapshot()})
		}
		return out
	}
	d := analyze.Dip{Onset: at(2), Recovered: at(30), Seconds: 28}
	got := change.pieces(d, seconds(-20, 20, map[int]int{-5: 1}), seconds(0, 40, map[int]int{3: 50, 12: 10, 18: 90, 25: 30, 35: 200}))
	want := []struct {
		during   string
		from, to float64
		worst    float64
		millis   float64 // its p99, which was 11 in the baseline
	}{
		{"the first checks", 2, 4, 3, 60}, {"whole", 4, 5, 4, 10}, {"join", 5, 10, 5, 10}, {"join (data streams: bootstrap)", 10, 14, 12, 20},
		{"join", 14, 18, 14, 10}, {Promotion, 18, 19, 18, 100}, {"join", 19, 20, 19, 10}, {"", 20, 21, 20, 10}, {"others[n1].cleanup", 21, 30, 25, 40},
	}
	if len(got) != len(want) {
		t.Fatalf("%d pieces, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		p := got[i]
		if p.During != w.during || !p.From.Equal(at(w.from)) || !p.To.Equal(at(w.to)) || !p.At.Equal(at(w.worst)) || math.Abs(p.Rise-w.millis/11) > 0.02 || !p.Usual || p.UsualTimes != (w.millis == 10) {
			t.Errorf("piece %d: %+v, want %+v", i, p, w)
		}
	}
	var r Recording
	for onset, cause := range map[float64]string{2: "the first checks", 6: "join", 18: Promotion, 22: "others[n1].cleanup"} {
		if got, _ := r.Cause(change, analyze.Dip{Onset: at(onset), Seconds: 20}); got != cause {
			t.Errorf("at %.0f s: %q, want %q", onset, got, cause)
		}
	}
	if one := change.pieces(analyze.Dip{Onset: at(22), Recovered: at(26)}, seconds(-20, 20, nil), seconds(0, 40, nil)); one != nil {
		t.Errorf("one cause is not divided: %+v", one)
	}
}
