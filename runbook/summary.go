package runbook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
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

// learned is how long steps took in earlier runs of the runbook, in seconds, by id.
type learned map[string]float64

// learn takes the median of the last five runs.
func (s *Service) learn(ctx context.Context, name string) learned {
	records, err := s.Store.Records(ctx, "timing", name)
	if err != nil {
		return nil // an estimate is worth no failure
	}
	all := map[string][]float64{}
	for _, r := range records[max(0, len(records)-5):] {
		var took map[string]float64
		if json.Unmarshal(r.Data, &took) == nil {
			for id, seconds := range took {
				all[id] = append(all[id], seconds)
			}
		}
	}
	out := learned{}
	for id, seconds := range all {
		out[id] = median(seconds)
	}
	return out
}

func (l learned) total(p Plan) time.Duration {
	var sum float64
	for _, step := range p.Steps {
		sum += l[idOf(step.Key)]
	}
	return time.Duration(sum * float64(time.Second))
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

// summary weighs steps by how long they took before, an unknown one like the mean of the known.
func (r *runner) summary() Summary {
	s := r.state
	out := Summary{Status: s.Status(), Position: s.Position()}
	var total, done float64
	for _, i := range s.Items {
		weight := r.learned[i.Step.ID]
		if weight == 0 {
			weight = r.learned.mean()
		}
		total += weight
		if i.Over() {
			done += weight
		} else if j := r.jobs[i.Key]; j != nil {
			share, text := j.progress.now()
			if share < 0 { // it does not say: by the clock, never quite done
				share = min(0.95, time.Since(j.progress.began).Seconds()/max(weight, 1))
			}
			done += share * weight
			out.Detail = text
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

func (l learned) mean() float64 {
	var sum float64
	for _, v := range l {
		sum += v
	}
	if len(l) == 0 {
		return 1
	}
	return sum / float64(len(l))
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// idOf is the id of a step, without its group and target.
func idOf(key string) string { return key[strings.LastIndex(key, ".")+1:] }

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
