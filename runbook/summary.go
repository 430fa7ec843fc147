package runbook

import (
	"encoding/json"
	"time"
)

// Summary is how a run stands, for who looks from outside: told a few times a second, not journaled.
type Summary struct {
	Status   string        `json:"status"` // running, held, asking, parked, done, failed, cancelled, undone
	Position string        `json:"position,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	Share    float64       `json:"share"`          // of the whole, 0 to 1
	Left     time.Duration `json:"left,omitempty"` // by earlier runs; 0: not known
	Reason   string        `json:"reason,omitempty"`
}

// tell keeps the summary; unless something happened, at most twice a second.
func (r *runner) tell(now bool) {
	if !now && time.Since(r.told) < 500*time.Millisecond {
		return
	}
	r.told = time.Now()
	data, err := json.Marshal(r.summary())
	if err != nil {
		return
	}
	_ = r.service.Store.Tell(r.outside, r.journal.Run(), data) // for onlookers only
}

// summary says how far the run is: each part of its work weighs what it took before.
func (r *runner) summary() Summary {
	s := r.state
	out := Summary{Status: s.Status(), Position: s.Position()}
	var total, done float64
	for _, p := range s.parts() {
		weight := r.learned.weight(p.id)
		total += weight
		switch j := r.jobs[p.key]; {
		case p.over:
			done += weight
		case j != nil:
			share, text := j.progress.now()
			if share < 0 { // it does not say: by the clock
				share = r.learned.elapsed(p.id, time.Since(j.progress.began))
			}
			done += share * weight
			if text != "" {
				out.Detail = p.key + ": " + text
			}
		}
	}
	if total > 0 {
		out.Share = done / total
	}
	if len(r.learned) > 0 && s.Outcome == "" {
		out.Left = time.Duration((total - done) * float64(time.Second))
	}
	switch {
	case s.Held != "":
		out.Reason = s.Held
	case r.broken() != nil:
		out.Reason = r.broken().Error
	}
	return out
}

// Status is one word for how the run stands by its journal.
func (s *State) Status() string {
	switch {
	case s.Outcome != "":
		return string(s.Outcome)
	case s.Parked:
		return "parked"
	case s.Held != "":
		return "held"
	}
	for _, i := range s.Items {
		if i.Phase == Asking {
			return "asking"
		}
	}
	if s.Events == 0 {
		return "waiting"
	}
	return "running"
}
