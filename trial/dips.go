package trial

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
func (r *recording) dips(change *phaseRecord, o analyze.Options) []result.Dip {
	baseline, during := r.around(change)
	if len(baseline) < 3 || len(during) < 3 {
		return nil
	}
	var out []result.Dip
	for _, d := range analyze.DipsOf(baseline, during, o) {
		cause, when := r.cause(change, d)
		out = append(out, result.Dip{Dip: d, During: cause, When: when, Pieces: change.pieces(d, baseline, during)})
	}
	return out
}

// cause names what a dip began with: a node that took its ranges, else the step that did something then, else what happened to a
// node just before, else the step that looked or waited then, else the one that had just ended. What comes later is never it: where
// nothing of the change was under way, that is said.
func (r *recording) cause(change *phaseRecord, d analyze.Dip) (string, result.When) {
	const moment = 2 * time.Second
	until := d.Onset.Add(second)
	var after span
	for _, s := range change.steps {
		if !s.to.After(d.Onset) && d.Onset.Sub(s.to) < moment && s.to.After(after.to) {
			after = s
		}
	}
	did, looked := change.underWay(d, false), change.underWay(d, true)
	switch e := r.happening(change, d.Onset.Add(-moment), until); {
	case change.promoted(d.Onset, until):
		return promotion, result.During
	case did != "":
		return did + streaming(change, d.Onset, until), result.During
	case e != "":
		return e, result.During
	case looked != "":
		return looked + streaming(change, d.Onset, until), result.During
	case after.key != "":
		return "after " + after.key, result.After
	}
	return change.precedes(d)
}

// firstChecks is what goes before the first step of a runbook: the cluster is locked, and every step looks whether it is done already.
const firstChecks = "the first checks"

// early tells whether a moment lies between the beginning of a change and its first step.
func (s *phaseRecord) early(at time.Time) bool {
	if len(s.steps) == 0 || at.Add(second).Before(s.from) {
		return false
	}
	return at.Before(slices.MinFunc(s.steps, byBeginning).from)
}

// precedes says of a dip that began while no step was under way what it went before; "" where that was nothing.
func (s *phaseRecord) precedes(d analyze.Dip) (string, result.When) {
	if s.early(d.Onset) {
		return firstChecks, result.During
	}
	until := d.Onset.Add(time.Duration(d.Seconds) * second)
	next := slices.DeleteFunc(slices.Clone(s.steps), func(x span) bool { return x.from.Before(d.Onset) || !x.from.Before(until) })
	if len(next) == 0 {
		return "", ""
	}
	first := slices.MinFunc(next, byBeginning)
	return fmt.Sprintf("no step (%.0f s before %s)", first.from.Sub(d.Onset).Seconds(), first.key), result.Before
}

// underWay is the step, of those that only look or wait or of the others, that was under way when a dip began: in its first
// second or, as harm can begin late in a second, in half of the one before; where it lasted longer, in its second one too. Of several
// it is the first that took at least half as long of that as the longest, but not one that had done no harm for two seconds.
func (s *phaseRecord) underWay(d analyze.Dip, looks bool) string {
	begins, until := d.Onset.Add(-second/2), d.Onset.Add(second)
	if d.Seconds > 1 {
		until = until.Add(second)
	}
	share := func(x span) time.Duration { return earlier(x.to, until).Sub(later(x.from, begins)) }
	harmless := func(x span) bool { return x.from.Before(d.Onset.Add(-2 * second)) }
	var near []span
	for _, step := range s.steps {
		if slices.Contains(s.looks, step.key) == looks && share(step) > 0 {
			near = append(near, step)
		}
	}
	if slices.ContainsFunc(near, func(x span) bool { return !harmless(x) }) {
		near = slices.DeleteFunc(near, harmless)
	}
	longest := time.Duration(0)
	for _, step := range near {
		longest = max(longest, share(step))
	}
	near = slices.DeleteFunc(near, func(x span) bool { return share(x) < longest/2 })
	if len(near) == 0 {
		return ""
	}
	return slices.MinFunc(near, byBeginning).key
}

// streaming adds which streams of data were under way in a stretch of time, if any were.
func streaming(change *phaseRecord, from, to time.Time) string {
	for _, s := range change.streams {
		if s.from.Before(to) && s.to.After(from) {
			return " (data streams: " + s.key + ")"
		}
	}
	return ""
}

// happening is the last thing that was done to a node, or that befell it, in a stretch of time.
func (r *recording) happening(change *phaseRecord, from, to time.Time) string {
	found := ""
	for _, e := range r.events {
		if e.Cell != "" && e.Cell != change.cell || e.Round != 0 && e.Round != change.round || e.Time.Before(from) || e.Time.After(to) {
			continue
		}
		found = strings.TrimSpace(string(e.Kind) + " " + e.Node)
	}
	return found
}

// witness keeps what can be a dip's cause.
func (r *recording) witness(e series.Event) {
	if e.Kind.Group() == series.OfServers {
		r.events = append(r.events, e)
	}
}

// around returns the baseline before a change, and the seconds from its beginning up to the next change.
func (r *recording) around(change *phaseRecord) (baseline, during []analyze.Second) {
	at := slices.Index(r.phases, change)
	for i, s := range r.phases {
		if s.cell != change.cell || s.round != change.round {
			continue
		}
		switch {
		case i < at && s.phase == "baseline":
			baseline = append(baseline, s.all...)
		case i > at && s.change:
			return baseline, during
		case i >= at:
			during = append(during, s.all...)
		}
	}
	return baseline, during
}

func later(a, b time.Time) time.Time {
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
