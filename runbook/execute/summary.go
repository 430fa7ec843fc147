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

// outlook is how far a whole run is, and how long it still takes.
type outlook struct {
	total, done float64       // seconds, or where nothing is known parts
	pace        time.Duration // of all that is under way
	paced       bool          // all that is left is under way and says its pace
	overdue     bool          // something takes longer than it ever did
	detail      string        // what is under way
}

// summary says how far the run is: each part of its work weighs what it took before, or what it takes at its pace.
func (r *runner) summary() journal.Summary {
	s := r.state
	o := outlook{paced: s.Outcome == ""}
	for _, p := range s.Parts() {
		addPart(r, &o, p)
	}
	addLook(r, &o)
	out := journal.Summary{Status: s.Status(), Position: s.Position(), Detail: o.detail}
	if next := s.Next(); out.Position == "" && next != "" {
		out.Position = "before " + next
	}
	if o.total > 0 {
		out.Share = o.done / o.total
	}
	switch {
	case o.overdue:
	case len(r.learned) > 0 && s.Outcome == "":
		out.Left, out.LeftBy = time.Duration((o.total-o.done)*float64(time.Second)), journal.ByEarlierRuns
	case o.paced && o.pace > 0:
		out.Left, out.LeftBy = o.pace, journal.ByPace
	}
	switch {
	case s.Held != "":
		out.Reason = s.Held
	case s.Cause == journal.Unchanged:
		out.Reason = s.Why
	case r.broken() != nil:
		out.Reason = r.broken().Error
	}
	return out
}

// addPart adds a part of the run's work.
func addPart(r *runner, o *outlook, p journal.Part) {
	weight, share := r.learned.weight(p.ID), r.worked[p.Key].share
	switch j := r.jobs[p.Key]; {
	case p.Over:
		share = 1
	case j == nil:
		o.paced = false
	default:
		weight, share = shareUnderWay(r, o, p, j)
	}
	o.total += weight
	o.done += share * weight
}

// shareUnderWay is what a part on which a job works now weighs, in seconds where anything is known, and which share of that is done.
func shareUnderWay(r *runner, o *outlook, p journal.Part, j *job) (weight, share float64) {
	weight = r.learned.weight(p.ID)
	w := r.worked[p.Key]
	if w.began.IsZero() {
		w.began = j.progress.began
	}
	share, text := j.progress.now()
	took, left := time.Since(w.began), j.progress.left()
	late := left == 0 && took > lateAfter && took.Seconds() > weight
	if text != "" || late {
		o.detail = p.Key + ": " + text
	}
	if late { // what earlier runs took says nothing any more
		o.detail, o.overdue = j.waits(p.Key, text), true
	}
	switch {
	case left > 0 && len(r.learned) > 0: // what it shows itself beats what earlier runs took, maybe of less data
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
	o.pace, o.paced = max(o.pace, left), o.paced && left > 0
	return weight, share
}

// addLook adds what a look at the cluster's health before a step waits for, which is no part of the work.
func addLook(r *runner, o *outlook) {
	for _, key := range document.SortedKeys(r.jobs) {
		j := r.jobs[key]
		_, text := j.progress.now()
		if text == "" || r.state.Item(key) != nil {
			continue
		}
		o.detail = "before " + key + ": " + text
		if time.Since(j.progress.began) > lateAfter {
			o.detail, o.overdue = "before "+j.waits(key, text), true
		}
		return
	}
}

// lateAfter is how long a job goes on before it is told since when and until when.
const lateAfter = 5 * time.Second

// waits says what is waited for, since when, and until when at the latest.
func (j *job) waits(key, text string) string {
	if text == "" {
		text = "waiting for an answer"
	}
	now := time.Now()
	return fmt.Sprintf("%s: %s, since %s, until %s at the latest", key, text, clock(j.progress.began, now), clock(j.until, now))
}

// clock is a time as it is read now, in local time: with its day, if that is not today.
func clock(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}
