package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/series"
)

// dips dates what was felt of a change, and after it up to the next change, against the baseline of its round.
func (r *Recording) dips(change *PhaseRecord, o analyze.Options) []result.Dip {
	baseline, during := r.around(change)
	if len(baseline) < 3 || len(during) < 3 {
		return nil
	}
	var out []result.Dip
	for _, d := range analyze.DipsOf(baseline, during, o) {
		cause, when := r.Cause(change, d)
		out = append(out, result.Dip{Dip: d, During: cause, When: when, Pieces: change.pieces(d, baseline, during)})
	}
	return out
}

// Cause names what a dip began with: a node that took its ranges, else the step that did something then, else what happened to a
// node just before, else the step that looked or waited then, else the one that had just ended. What comes later is never it: where
// nothing of the change was under way, that is said.
func (r *Recording) Cause(change *PhaseRecord, d analyze.Dip) (string, result.When) {
	const moment = 2 * time.Second
	until := d.Onset.Add(Second)
	var after Span
	for _, s := range change.Steps {
		if !s.To.After(d.Onset) && d.Onset.Sub(s.To) < moment && s.To.After(after.To) {
			after = s
		}
	}
	did, looked := change.underWay(d, false), change.underWay(d, true)
	switch e := r.happening(change, d.Onset.Add(-moment), until); {
	case change.promoted(d.Onset, until):
		return Promotion, result.During
	case did != "":
		return did + streaming(change, d.Onset, until), result.During
	case e != "":
		return e, result.During
	case looked != "":
		return looked + streaming(change, d.Onset, until), result.During
	case after.Key != "":
		return "after " + after.Key, result.After
	}
	return change.precedes(d)
}

// firstChecks is what goes before the first step of a runbook: the cluster is locked, and every step looks whether it is done already.
const firstChecks = "the first checks"

// early tells whether a moment lies between the beginning of a change and its first step.
func (s *PhaseRecord) early(at time.Time) bool {
	if len(s.Steps) == 0 || at.Add(Second).Before(s.From) {
		return false
	}
	return at.Before(slices.MinFunc(s.Steps, byBeginning).From)
}

// precedes says of a dip that began while no step was under way what it went before; "" where that was nothing.
func (s *PhaseRecord) precedes(d analyze.Dip) (string, result.When) {
	if s.early(d.Onset) {
		return firstChecks, result.During
	}
	until := d.Onset.Add(time.Duration(d.Seconds) * Second)
	next := slices.DeleteFunc(slices.Clone(s.Steps), func(x Span) bool { return x.From.Before(d.Onset) || !x.From.Before(until) })
	if len(next) == 0 {
		return "", ""
	}
	first := slices.MinFunc(next, byBeginning)
	return fmt.Sprintf("no step (%.0f s before %s)", first.From.Sub(d.Onset).Seconds(), first.Key), result.Before
}

// underWay is the step, of those that only look or wait or of the others, that was under way when a dip began: in its first
// second or, as harm can begin late in a second, in half of the one before; where it lasted longer, in its second one too. Of several
// it is the first that took at least half as long of that as the longest, but not one that had done no harm for two seconds.
func (s *PhaseRecord) underWay(d analyze.Dip, looks bool) string {
	begins, until := d.Onset.Add(-Second/2), d.Onset.Add(Second)
	if d.Seconds > 1 {
		until = until.Add(Second)
	}
	share := func(x Span) time.Duration { return earlier(x.To, until).Sub(Later(x.From, begins)) }
	harmless := func(x Span) bool { return x.From.Before(d.Onset.Add(-2 * Second)) }
	var near []Span
	for _, step := range s.Steps {
		if slices.Contains(s.Looks, step.Key) == looks && share(step) > 0 {
			near = append(near, step)
		}
	}
	if slices.ContainsFunc(near, func(x Span) bool { return !harmless(x) }) {
		near = slices.DeleteFunc(near, harmless)
	}
	longest := time.Duration(0)
	for _, step := range near {
		longest = max(longest, share(step))
	}
	near = slices.DeleteFunc(near, func(x Span) bool { return share(x) < longest/2 })
	if len(near) == 0 {
		return ""
	}
	return slices.MinFunc(near, byBeginning).Key
}

// streaming adds which streams of data were under way in a period, if any were.
func streaming(change *PhaseRecord, from, to time.Time) string {
	for _, s := range change.Streams {
		if s.From.Before(to) && s.To.After(from) {
			return " (data streams: " + s.Key + ")"
		}
	}
	return ""
}

// happening is the last thing that was done to a node, or that befell it, in a period.
func (r *Recording) happening(change *PhaseRecord, from, to time.Time) string {
	found := ""
	for _, e := range r.events {
		if e.Cell != "" && e.Cell != change.Cell || e.Round != 0 && e.Round != change.Round || e.Time.Before(from) || e.Time.After(to) {
			continue
		}
		found = strings.TrimSpace(string(e.Kind) + " " + e.Node)
	}
	return found
}

// KeepEvent keeps an event of a server, which can be the cause of a dip.
func (r *Recording) KeepEvent(e series.Event) {
	if e.Kind.Group() == series.OfServers {
		r.events = append(r.events, e)
	}
}

// around returns the baseline before a change, and the seconds from its beginning up to the next change.
func (r *Recording) around(change *PhaseRecord) (baseline, during []analyze.Second) {
	at := slices.Index(r.Phases, change)
	for i, s := range r.Phases {
		if s.Cell != change.Cell || s.Round != change.Round {
			continue
		}
		switch {
		case i < at && s.Phase == "baseline":
			baseline = append(baseline, s.All...)
		case i > at && s.Change:
			return baseline, during
		case i >= at:
			during = append(during, s.All...)
		}
	}
	return baseline, during
}

func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
