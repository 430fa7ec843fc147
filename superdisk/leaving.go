package superdisk

import (
	"context"
	"time"
)

// takingOut is how long it may take from the record that a leg is taken out until md has taken it out.
const takingOut = 10 * time.Second

// Leaves records that a leg is about to be taken out of an array that runs. Should whoever takes it out be killed, the leg does not count as one
// that has everything. A Note of some seconds does not say so of it either: its look may be from before the leg was taken out. Settle ends that.
func (s Records) Leaves(ctx context.Context, seen Status, a Array, leg Leg) error {
	_, r, err := s.change(ctx, a.UUID, func(r *Record) bool {
		r.Note(a, seen.Machine, seen.At)
		key := r.Key(a, leg)
		r.note(key, leg.Role, seen.Machine, false, seen.At)
		out := r.Legs[key]
		out.Seen, out.Leaving = seen.At, seen.At.Add(takingOut)
		r.Legs[key] = out
		r.legsChanged(seen.At)
		return true
	})
	if err == nil {
		err = s.tag(ctx, r, r.keys(a))
	}
	return err
}

// Settle is Note for who takes legs out and brings them back, after it has: nobody takes a leg out at the time of this look.
func (s Records) Settle(ctx context.Context, seen Status) error {
	return s.noteAll(ctx, seen, func(r *Record) {
		for key, leg := range r.Legs {
			leg.Leaving = time.Time{}
			r.Legs[key] = leg
		}
	})
}
