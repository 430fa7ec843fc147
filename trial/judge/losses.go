package judge

import (
	"slices"
	"time"

	"plimsoll/result"
	"plimsoll/trial/expect"

	"plimsoll/analyze"
	"plimsoll/workload"
)

// Audited is the ledger's audit of a cell in one round; nil if it could not be read.
type Audited struct {
	Cell  string
	Round int
	*workload.Audit
}

// incident is a change with what a ledger felt of it, from its beginning to the next change, or the end of the load.
type incident struct {
	phase    string
	from, to time.Time
	last     time.Time // acknowledgement before the longest time without one
	next     time.Time // and after it; zero: none came
	any      bool      // there were acknowledgements at all
	settled  time.Time // what was acknowledged before and is not there, this change lost
}

// incidents are the changes of an audited cell and round.
func (r *Recording) incidents(a Audited) []incident {
	var all []incident
	var end time.Time
	for _, s := range r.Phases {
		if s.Cell != a.Cell || s.Round != a.Round {
			continue
		}
		if s.Change {
			all = append(all, incident{phase: s.Phase, from: s.From})
		}
		end = s.To
	}
	for i := range all {
		x := &all[i]
		x.to = end
		if i+1 < len(all) {
			x.to = all[i+1].from
		}
		var over bool
		x.last, x.next, over, x.any = a.Gap(x.from, x.to)
		if x.settled = x.next; !over {
			x.settled = x.to
		}
	}
	return all
}

// auditsOf are the audits of a cell; none if one of them could not be read.
func (r *Recording) auditsOf(cell string, round int) []Audited {
	var all []Audited
	for _, a := range r.Audits {
		if a.Cell != cell || round > 0 && a.Round != round {
			continue
		}
		if a.Audit == nil {
			return nil
		}
		all = append(all, a)
	}
	return all
}

// told is the value of a metric that a ledger knows, of a cell, a round (0 is all) and a phase ("" is all): counts are
// added up, of times it is the longest. It is nil where the ledger cannot tell.
func (r *Recording) told(m expect.Metric, cell string, round int, phase string) *float64 {
	audits := r.auditsOf(cell, round)
	if len(audits) == 0 {
		return nil
	}
	value := 0.0
	for _, a := range audits {
		incidents := r.incidents(a)
		switch m.Name {
		case "recovery_time":
			longest := longestGap(incidents, phase)
			if longest == nil {
				return nil
			}
			value = max(value, *longest)
		case "recovery_point":
			value = max(value, expect.Millis(recoveryPoint(a, incidents, phase)))
		default:
			value += float64(len(a.moments(m, incidents, phase)))
		}
	}
	return &value
}

// longestGap is how long no write was acknowledged, at the longest, from a change on; nil if none came any more.
func longestGap(incidents []incident, phase string) *float64 {
	var longest *float64
	for _, x := range incidents {
		if phase != "" && x.phase != phase {
			continue
		}
		if !x.any || x.next.IsZero() {
			return nil
		}
		if took := expect.Millis(x.next.Sub(x.last)); longest == nil || took > *longest {
			longest = &took
		}
	}
	return longest
}

// recoveryPoint is how much older the oldest lost write is than the last acknowledgement before the database stopped
// answering, or than the last lost one where it went on; the longest of the changes.
func recoveryPoint(a Audited, incidents []incident, phase string) time.Duration {
	if len(incidents) == 0 {
		return spread(a, a.Lost, time.Time{})
	}
	var longest time.Duration
	for i, x := range incidents {
		if phase == "" || x.phase == phase {
			longest = max(longest, spread(a, a.acknowledgedFor(a.Lost, incidents, i), x.last))
		}
	}
	return longest
}

func spread(a Audited, lost []workload.Moment, event time.Time) time.Duration {
	if len(lost) == 0 {
		return 0
	}
	first, last := a.Time(lost[0]), a.Time(lost[len(lost)-1])
	if event.After(last) {
		last = event
	}
	return last.Sub(first)
}

// moments are those that a metric counts, of one phase or all.
func (a Audited) moments(m expect.Metric, incidents []incident, phase string) []workload.Moment {
	all := map[string][]workload.Moment{
		"lost_writes": a.Lost, "duplicated_writes": a.Duplicated, "corrupt_writes": a.Corrupt, "stale_reads": a.Stale,
	}[m.Name]
	if phase == "" {
		return all
	}
	var out []workload.Moment
	for i, x := range incidents {
		switch {
		case x.phase != phase:
		case m.Name == "stale_reads": // they are the fault of what came before them
			out = append(out, a.between(all, x.from, x.to)...)
		default: // they are that of what came after
			out = append(out, a.acknowledgedFor(all, incidents, i)...)
		}
	}
	return out
}

// acknowledgedFor are the moments that a change is to blame for: from where an earlier one was over until it was over itself. The
// acknowledgement by which that shows is what came after it already.
func (a Audited) acknowledgedFor(all []workload.Moment, incidents []incident, i int) []workload.Moment {
	var from time.Time
	if i > 0 {
		from = incidents[i-1].settled
	}
	to := incidents[i].settled
	if i == len(incidents)-1 { // and nobody else is
		to = a.Time(^workload.Moment(0))
	}
	return a.between(all, from, to)
}

func (a Audited) between(all []workload.Moment, from, to time.Time) []workload.Moment {
	var out []workload.Moment
	for _, m := range all {
		if t := a.Time(m); !t.Before(from) && t.Before(to) {
			out = append(out, m)
		}
	}
	return out
}

// ledgerFigures are what a ledger said of a cell, or of a phase of it.
func (r *Recording) ledgerFigures(cell string, round int, phase string, changed bool) []result.Figure {
	names := expect.LedgerMetrics
	if changed {
		names = append(slices.Clone(names), "recovery_time")
	} else {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "recovery_point" })
	}
	var out []result.Figure
	for _, name := range names {
		m := expect.Metric{Name: name}
		if v := r.told(m, cell, round, phase); v != nil {
			out = append(out, result.Figure{Metric: name, Unit: m.Unit(), Estimate: analyze.EstimateOf(analyze.Quantity{Name: name, Exact: v}, analyze.Options{})})
		}
	}
	return out
}

func (r *Recording) writes(cell string) *result.Writes {
	audits := r.auditsOf(cell, 0)
	if len(audits) == 0 {
		return nil
	}
	var w result.Writes
	for _, a := range audits {
		w.Acknowledged, w.InDoubt = w.Acknowledged+a.Acknowledged, w.InDoubt+a.InDoubt
		w.Found, w.Reads = w.Found+a.Found, w.Reads+a.Reads
	}
	return &w
}
