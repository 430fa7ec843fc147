package workload

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestTheGapIsTheLongestTimeWithoutAnAcknowledgement(t *testing.T) {
	begun := time.Now()
	at := func(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }
	a := &Audit{Begun: begun}
	for _, m := range []Moment{10, 20, 63, 64, 90, 4000, 4001, 4100, 9000} {
		a.Acks.Add(m)
	}
	for _, c := range []struct{ from, to, last, next int }{
		{50, 8000, 90, 4000},       // in the middle
		{15, 89, 20, 63},           // at a word's edge
		{90, 4050, 90, 4000},       // from an acknowledgement on
		{3000, 3500, 90, -1},       // not over
		{4050, 8000, 4100, -1},     // not over, and longer than what was
		{4050, 20_000, 9000, -1},   // the rest is longer
		{4050, 9100, 4100, 9000},   // and is not
		{64, 70, 64, -1},           // nothing between
		{9000, 9000, 9000, 9000},   // no time
		{15_000, 15_001, 9000, -1}, // long after
	} {
		last, next, over, any := a.Gap(at(c.from), at(c.to))
		if !any || !last.Equal(at(c.last)) || over != (c.next >= 0) || over && !next.Equal(at(c.next)) {
			t.Errorf("%d to %d: %v to %v, over %v, any %v", c.from, c.to, last.Sub(begun), next.Sub(begun), over, any)
		}
	}
	if _, _, _, any := a.Gap(at(0), at(5)); any {
		t.Error("there is a gap before anything was acknowledged")
	}
	if _, _, _, any := (&Audit{Begun: begun}).Gap(at(0), at(5)); any {
		t.Error("there is a gap without any acknowledgement")
	}
}

// Against the plain way of doing it.
func TestTheGapOfRandomAcknowledgements(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	begun := time.Now()
	for range 300 {
		a := &Audit{Begun: begun}
		acked := make([]bool, 2000)
		for range r.IntN(60) {
			m := r.IntN(len(acked))
			acked[m] = true
			a.Acks.Add(Moment(m))
		}
		from := r.IntN(len(acked))
		to := from + r.IntN(len(acked)-from)
		before := from
		for before >= 0 && !acked[before] {
			before--
		}
		wantAny, wantLast, wantNext := before >= 0, before, before
		for m := from + 1; m <= to && wantAny; m++ {
			if acked[m] {
				if m-before > wantNext-wantLast {
					wantLast, wantNext = before, m
				}
				before = m
			}
		}
		wantOver := to-before <= wantNext-wantLast || to <= before
		if !wantOver {
			wantLast = before
		}
		last, next, over, any := a.Gap(a.Time(Moment(from)), a.Time(Moment(to)))
		if any != wantAny || any && (over != wantOver || !last.Equal(a.Time(Moment(wantLast))) || over && !next.Equal(a.Time(Moment(wantNext)))) {
			t.Fatalf("seed %d, %d to %d: got %v to %v, over %v", seed, from, to, last.Sub(begun), next.Sub(begun), over)
		}
	}
}
