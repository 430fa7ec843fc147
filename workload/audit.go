package workload

import (
	"context"
	"math/bits"
	"time"

	"plimsoll/engine"
)

// Audited is a workload that keeps a ledger of the writes that the database acknowledged, and can say what became of them.
type Audited interface {
	// Audit reads back what was written since the last Adopt, on the server that serves now. Nothing is written meanwhile.
	Audit(ctx context.Context, db engine.Database, p Progress) (*Audit, error)
}

// Moment is a time in milliseconds after a ledger began. It reaches 49 days.
type Moment uint32

// Audit is what became of acknowledged writes.
type Audit struct {
	Begun time.Time

	Acknowledged int64 // writes
	Reads        int64 // that were checked
	InDoubt      int64 // writes that ended in an error: there or not, both is right
	Found        int64 // of those in doubt, how many are there

	Lost       []Moment // acknowledged then, and not there, or only an older version of it
	Duplicated []Moment // acknowledged then, and there more than once
	Corrupt    []Moment // acknowledged then, and there with other contents
	Stale      []Moment // reads that began then and saw less than had been acknowledged before

	Acks Acks
}

// Time is a moment on the clock.
func (a *Audit) Time(m Moment) time.Time {
	return a.Begun.Add(time.Duration(m) * time.Millisecond)
}

// Acks are the moments at which writes were acknowledged, a bit for each millisecond.
type Acks []uint64

// Add notes an acknowledgement.
func (a *Acks) Add(m Moment) {
	for int(m/64) >= len(*a) {
		*a = append(*a, make([]uint64, max(1024, len(*a)))...)
	}
	(*a)[m/64] |= 1 << (m % 64)
}

// Gap is the longest time between two acknowledgements that ends within a span: from the last one before it to the first
// after. It is not over when none came in the rest of the span, which was longer. None: there is nothing to measure from.
func (a *Audit) Gap(from, to time.Time) (last, next time.Time, over, any bool) {
	begin, end := a.moment(from), a.moment(to)
	before, found := a.Acks.last(begin)
	if !found {
		return last, next, false, false
	}
	longest := [2]Moment{before, before}
	for m := range a.Acks.after(begin, end) {
		if m-before > longest[1]-longest[0] {
			longest = [2]Moment{before, m}
		}
		before = m
	}
	if end > before && end-before > longest[1]-longest[0] {
		return a.Time(before), time.Time{}, false, true
	}
	return a.Time(longest[0]), a.Time(longest[1]), true, true
}

func (a *Audit) moment(t time.Time) Moment { return Moment(max(t.Sub(a.Begun).Milliseconds(), 0)) }

// last is the latest moment up to one.
func (a Acks) last(m Moment) (Moment, bool) {
	for word := min(int(m/64), len(a)-1); word >= 0; word-- {
		here := a[word]
		if word == int(m/64) {
			here &= ^uint64(0) >> (63 - m%64)
		}
		if here != 0 {
			return Moment(word*64 + bits.Len64(here) - 1), true
		}
	}
	return 0, false
}

// after yields the moments later than one, up to another, in order.
func (a Acks) after(from, to Moment) func(yield func(Moment) bool) {
	return func(yield func(Moment) bool) {
		for word := int((from + 1) / 64); word < len(a) && word <= int(to/64); word++ {
			for here := a[word]; here != 0; here &= here - 1 {
				m := Moment(word*64 + bits.TrailingZeros64(here))
				if m > to {
					return
				}
				if m > from && !yield(m) {
					return
				}
			}
		}
	}
}
