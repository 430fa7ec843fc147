package judge

import (
	"testing"
	"time"

	"plimsoll/result"
	"plimsoll/trial/expect"

	"plimsoll/workload"
)

// twice is a recording in which a server was killed at 10 s, and its power failed at 20 s: two and three seconds without an
// acknowledgement, and losses at both.
func twice() *Recording {
	begun := time.Now()
	at := func(seconds float64) time.Time { return begun.Add(time.Duration(seconds * float64(time.Second))) }
	r := &Recording{}
	for _, s := range []struct {
		phase    string
		from, to float64
	}{{"baseline", 5, 10}, {"lab/kill", 10, 13}, {"recovery", 13, 20}, {"lab/power-fail", 20, 24}, {"recovery", 24, 30}} {
		r.Phases = append(r.Phases, &PhaseRecord{
			Cell: "a", Round: 1, Phase: s.phase, From: at(s.from), To: at(s.to), Change: s.phase != "baseline" && s.phase != "recovery",
		})
	}
	a := &workload.Audit{
		Begun: begun, Acknowledged: 100, InDoubt: 7, Found: 3, Reads: 9,
		Lost:       []workload.Moment{9700, 9990, 19_500},
		Duplicated: []workload.Moment{12_500},
		Corrupt:    []workload.Moment{1000, 25_000},
		Stale:      []workload.Moment{12_100, 23_100, 23_200},
	}
	for m := workload.Moment(0); m < 30_000; m += 10 {
		if m <= 10_000 || m >= 12_000 && m <= 20_000 || m >= 23_000 {
			a.Acks.Add(m)
		}
	}
	r.Audits = []Audited{{"a", 1, a}}
	return r
}

func TestLossesArePutDownToTheChangeThatCameAfterThem(t *testing.T) {
	r := twice()
	for phase, want := range map[string]map[string]float64{
		"": {"lost_writes": 3, "duplicated_writes": 1, "corrupt_writes": 2, "stale_reads": 3, "recovery_point": 500, "recovery_time": 3000},
		// What was acknowledged until the service was back is the kill's.
		"lab/kill":       {"lost_writes": 2, "duplicated_writes": 0, "corrupt_writes": 1, "stale_reads": 1, "recovery_point": 300, "recovery_time": 2000},
		"lab/power-fail": {"lost_writes": 1, "duplicated_writes": 1, "corrupt_writes": 1, "stale_reads": 2, "recovery_point": 500, "recovery_time": 3000},
	} {
		for name, value := range want {
			got := r.told(expect.Metric{Name: name}, "a", 0, phase)
			if got == nil || *got != value {
				t.Errorf("%s of %q: %v, want %v", name, phase, show(got), value)
			}
		}
	}
	if w := r.writes("a"); w == nil || *w != (result.Writes{Acknowledged: 100, InDoubt: 7, Found: 3, Reads: 9}) {
		t.Errorf("writes %+v", w)
	}
}

// The first write that is acknowledged after an outage shows that it is over: lost later, it is lost to what came then.
func TestTheWriteThatEndsAnOutageIsNotLostToIt(t *testing.T) {
	r := twice()
	r.Audits[0].Lost = []workload.Moment{10_000, 12_000, 12_010}
	for phase, want := range map[string]float64{"": 3, "lab/kill": 1, "lab/power-fail": 2} {
		if got := r.told(expect.Metric{Name: "lost_writes"}, "a", 0, phase); got == nil || *got != want {
			t.Errorf("lost to %q: %v, want %v", phase, show(got), want)
		}
	}
}

func show(f *float64) any {
	if f == nil {
		return nil
	}
	return *f
}

func TestWhatALedgerCannotTell(t *testing.T) {
	told := func(r *Recording, name string) *float64 { return r.told(expect.Metric{Name: name}, "a", 0, "") }

	r := twice()
	r.Audits = append(r.Audits, Audited{"a", 2, nil}) // of which the audit failed
	if told(r, "lost_writes") != nil || r.writes("a") != nil {
		t.Error("a round that was not read back counts as nothing lost")
	}
	if r.told(expect.Metric{Name: "lost_writes"}, "a", 1, "") == nil {
		t.Error("the round that was read back is told")
	}
	if told(&Recording{}, "lost_writes") != nil {
		t.Error("without a ledger nothing is lost")
	}

	r = twice()
	r.Audits[0].Acks = r.Audits[0].Acks[:10_000/64] // and no write was acknowledged any more
	if got := told(r, "recovery_time"); got != nil {
		t.Errorf("it recovered in %v", *got)
	}
	if got := told(r, "lost_writes"); got == nil || *got != 3 {
		t.Errorf("lost %v", show(got))
	}

	r = twice()
	r.Phases = r.Phases[:1] // nothing was done to it
	if got := told(r, "recovery_point"); got == nil || *got != 9800 {
		t.Errorf("the oldest of what was lost for no reason: %v", show(got))
	}
}
