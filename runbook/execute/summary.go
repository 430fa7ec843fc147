package execute

import (
	"encoding/json"
	"fmt"
	"time"

	"plimsoll/internal/document"
	"plimsoll/runbook/journal"
)

// tell keeps the summary; unless something happened, at most twice a second.
func (r *runner) tell(now bool) {
	if !now && time.Since(r.told) < 500*time.Millisecond {
		return
	}
	r.told = time.Now()
	data, err := json.Marshal(r.show())
	if err != nil {
		return
	}
	_ = r.service.Store.Tell(r.outside, r.journal.Run(), data) // for onlookers only
}

// show is the summary that onlookers get, whose share never goes down: where it takes longer than was thought, what is left says so.
func (r *runner) show() journal.Summary {
	s := r.summary()
	r.shown = max(r.shown, s.Share)
	s.Share = r.shown
	return s
}

// work is how far a part of a run is. A look, an act and a verification are one after the other, and none begins it anew.
type work struct {
	began time.Time
	share float64
}

// summary says how far the run is: each part of its work weighs what it took before, or what it takes at its pace.
func (r *runner) summary() journal.Summary {
	s := r.state
	out := journal.Summary{Status: s.Status(), Position: s.Position()}
	if next := s.Next(); out.Position == "" && next != "" {
		out.Position = "before " + next
	}
	known := len(r.learned) > 0
	var total, done float64  // seconds, or where nothing is known parts
	var pace time.Duration   // of all that is under way
	paced := s.Outcome == "" // nothing else is left
	overdue := false         // something takes longer than it ever did
	for _, p := range s.Parts() {
		weight, share := r.learned.weight(p.ID), 0.0
		w := r.worked[p.Key]
		switch j := r.jobs[p.Key]; {
		case p.Over:
			share = 1
		case j == nil:
			paced, share = false, w.share
		default:
			if w.began.IsZero() {
				w.began = j.progress.began
			}
			var text string
			share, text = j.progress.now()
			took, left := time.Since(w.began), j.progress.left()
			late := left == 0 && took > lateAfter && took.Seconds() > weight
			if text != "" || late {
				out.Detail = p.Key + ": " + text
			}
			if late { // what earlier runs took says nothing any more
				out.Detail = j.waits(p.Key, text)
				overdue = true
			}
			switch {
			case left > 0 && known: // what it shows itself beats what earlier runs took, maybe of less data
				weight = (took + left).Seconds()
				share = took.Seconds() / weight
			case share <= 0, share >= 1: // it does not say, or what it says of is not all that it does: by the clock
				share = max(r.learned.elapsed(p.ID, took), w.share)
			default:
				share = max(share, w.share)
			}
			w.share = share
			if r.worked == nil {
				r.worked = map[string]work{}
			}
			r.worked[p.Key] = w
			pace, paced = max(pace, left), paced && left > 0
		}
		total += weight
		done += share * weight
	}
	for _, key := range document.SortedKeys(r.jobs) { // a look at the cluster's health is no part
		j := r.jobs[key]
		_, text := j.progress.now()
		if text == "" || s.Item(key) != nil {
			continue
		}
		out.Detail = "before " + key + ": " + text
		if time.Since(j.progress.began) > lateAfter {
			out.Detail = "before " + j.waits(key, text)
			overdue = true
		}
		break
	}
	if total > 0 {
		out.Share = done / total
	}
	switch {
	case overdue:
	case known && s.Outcome == "":
		out.Left = time.Duration((total - done) * float64(time.Second))
	case paced:
		out.Left = pace
	}
	switch {
	case s.Held != "":
		out.Reason = s.Held
	case r.broken() != nil:
		out.Reason = r.broken().Error
	}
	return out
}

// lateAfter is how long a job goes on before it is told since when and until when.
const lateAfter = 5 * time.Second

// waits says what is waited for, since when, and until when at the latest.
func (j *job) waits(key, text string) string {
	if text == "" {
		text = "waiting for an answer"
	}
	return fmt.Sprintf("%s: %s, since %s, until %s at the latest", key, text, j.progress.began.Local().Format(time.TimeOnly), j.until.Local().Format(time.TimeOnly))
}
