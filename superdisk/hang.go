package superdisk

import "time"

// Watch tells, from look to look, since when a leg answers nothing: requests are under way and none has ended. A leg that
// hangs gives no error, and md waits for it for as long as it does.
type Watch struct {
	legs  map[string]answering // with requests under way
	ended map[string]int64     // requests, of all legs
}

type answering struct {
	ended int64     // requests, since the machine started
	since time.Time // this number has stood, with requests under way
}

// See takes a look and fills in for how long each leg has hung, and whether it has answered anything since the look before.
func (w *Watch) See(s *Status) {
	now, all := map[string]answering{}, map[string]int64{}
	for i := range s.Arrays {
		for j := range s.Arrays[i].Legs {
			l := &s.Arrays[i].Legs[j]
			key := s.Boot + " " + l.Device
			ended := l.IO.Reads + l.IO.Writes
			before, seen := w.ended[key]
			all[key], l.answered = ended, seen && ended > before
			old, known := w.legs[key]
			if l.IO.InFlight == 0 {
				continue // a quiet leg is no hung one
			}
			if !known || old.ended != ended {
				old = answering{ended, s.At}
			}
			now[key] = old
			l.HungFor = s.At.Sub(old.since)
		}
	}
	w.legs, w.ended = now, all
}
