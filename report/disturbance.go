package report

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/report/quantity"
)

// disturbance is what one change did, as all that is said of it is told: sentences, tables and claims alike. Each time has a subject
// of its own, since writes can be taken again while throughput is still low, and throughput be as before while p99 is not.
type disturbance struct {
	*analyze.Impact
	spells []analyze.Spell
	failed string         // which errors there were, "": not known
	writes *time.Duration // the longest time without an acknowledged write; nil: no ledger was kept, or none was taken any more
}

// disturbanceOf is nil of a phase in which nothing was changed, or that has nothing to be held against.
func disturbanceOf(p result.Phase) *disturbance {
	if p.Impact == nil {
		return nil
	}
	d := &disturbance{Impact: p.Impact, spells: p.Impact.Spells}
	if f, any := find(p.Figures, "recovery_time", ""); any {
		took := time.Duration(f.Estimate.Value * float64(time.Millisecond))
		d.writes = &took
	}
	return d
}

// course is how one thing fared in all spells together.
type course struct {
	worse   int // in how many spells
	open    bool
	longest time.Duration // until it was as before, of the spells in which it was again
	lasted  time.Duration // of the spell in which it was not: until the data ended
}

func (d *disturbance) course(of func(analyze.Spell) analyze.Course) course {
	var c course
	for _, s := range d.spells {
		switch in := of(s); {
		case !in.Worse:
		case in.AsBefore:
			c.worse, c.longest = c.worse+1, max(c.longest, in.After)
		default:
			c.worse, c.open, c.lasted = c.worse+1, true, in.After
		}
	}
	return c
}

func (d *disturbance) throughput() course {
	return d.course(func(s analyze.Spell) analyze.Course { return s.Throughput })
}

func (d *disturbance) p99() course {
	return d.course(func(s analyze.Spell) analyze.Course { return s.P99 })
}

func (d *disturbance) errors() course {
	return d.course(func(s analyze.Spell) analyze.Course { return s.Errors })
}

// back says when it was as before: "was as before after 8.4 s", "was as before after 8.4 s at the longest, 3 times", "was not as
// before within the 30 s that followed".
func (c course) back() string {
	took := func(d time.Duration) string { return quantity.Duration(d.Round(10 * time.Millisecond)) }
	switch {
	case c.open:
		text := "not as before within the " + took(c.lasted) + " that followed"
		if c.worse > 1 {
			text += fmt.Sprintf(" the last of %d times", c.worse)
		}
		return text
	case c.worse > 1:
		return fmt.Sprintf("as before each of %d times, after %s at the longest", c.worse, took(c.longest))
	}
	return "as before after " + took(c.longest)
}

// inTable is the same for a cell of a table.
func (c course) inTable(unharmed string) string {
	switch {
	case c.worse == 0:
		return unharmed
	case c.open:
		return "not within " + quantity.Duration(c.lasted.Round(10*time.Millisecond))
	}
	return quantity.Duration(c.longest.Round(10 * time.Millisecond))
}

// sentence says what the change did, each thing by its name.
func (d *disturbance) sentence() string {
	if len(d.spells) == 0 {
		return "the service was affected; an earlier version of Plimsoll wrote this result, which does not contain the recovery times."
	}
	var parts []string
	s := fmt.Sprintf("throughput fell to %s of the baseline in its worst second", quantity.Share.Format(d.WorstSecond))
	if c := d.throughput(); c.worse > 0 {
		s += " and was " + c.back()
	} else {
		s = "no fall of throughput was found beyond the baseline's own variation"
		if d.Open && d.Undone == 0 && d.LostOps < 0.5 {
			s += ", and every requested operation was done"
		}
	}
	parts = append(parts, s)
	if c := d.p99(); c.worse > 0 {
		parts = append(parts, "p99 response rose and was "+c.back())
	} else {
		parts = append(parts, "no rise of p99 response was found")
	}
	if d.ErrorSeconds > 0 {
		s := seconds(d.ErrorSeconds) + " with errors"
		if d.failed != "" {
			s += " (" + d.failed + ")"
		}
		if c := d.errors(); c.worse > 0 {
			s += ", whose share was " + c.back()
		}
		parts = append(parts, s)
	}
	if d.LostOps >= 0.5 {
		lost := "%s operations fewer than at the rate of the baseline"
		if d.Open {
			lost = "%s of the requested operations not done"
			if float64(d.Undone)-d.LostOps >= 0.5 {
				lost += " beyond the share that the baseline left undone"
			}
		}
		parts = append(parts, fmt.Sprintf(lost, quantity.Count.Format(d.LostOps)))
	}
	text := strings.Join(parts, "; ") + "."
	if d.writes != nil {
		text += " " + withoutWrites(*d.writes)
	}
	return text
}

// withoutWrites is true of a change that stopped no write too: then it is how long one waited for the next.
func withoutWrites(longest time.Duration) string {
	return "The longest time from one acknowledged write to the next was " + quantity.Duration(longest.Round(time.Millisecond)) + "."
}
