package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/trial/progress"
)

// guard asks whether the load generator was fit to measure what a cell's undisturbed phases measured; where it was not, the
// trial is going to be INVALID. While something is done to the cluster, and after, a full house is the database's doing.
func (d *cellRun) guard() {
	for _, s := range d.recording.Phases {
		if s.Cell != d.cell.Name || s.Round != d.round {
			continue
		}
		var responses []series.Snapshot
		for _, second := range s.All {
			responses = append(responses, second.Response)
		}
		response, at := series.Merge(responses...).Snapshot(), where(d.cell.Name, d.round)+", "+s.Phase
		switch {
		case judged(s.Phase):
			d.doubts.judged++
			for _, reason := range load.Judge(s.Guard, response) {
				d.doubts.add(at, reason)
			}
		case s.Change:
			d.admit(at, load.Lateness(s.Guard), response)
		}
	}
}

// judgeHung says of the undisturbed phases in which nodes hung.
func (d *cellRun) judgeHung() {
	for _, at := range slices.SortedFunc(maps.Keys(d.hung), func(a, b hang) int { return strings.Compare(a.address, b.address) }) {
		owed := d.hung[at]
		switch at.phase {
		case "baseline":
			d.invalidate("%s, baseline: the node at %s accepted requests but answered none for %v, although nothing was done to it", where(d.cell.Name, d.round), at.address, owed)
		case "measure":
			d.note("%s, measure: the node at %s accepted requests but answered none for %v; the load went to the other nodes", where(d.cell.Name, d.round), at.address, owed)
		}
	}
}

// broke makes the trial INVALID for what went wrong with the load itself.
func (d *cellRun) broke(all load.Summary) {
	for _, reason := range slices.Compact(all.Broken) {
		d.invalidate("%s: %s", where(d.cell.Name, d.round), reason)
		d.happened(series.Event{Kind: series.LoadBroken, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"reason": reason}})
	}
}

// judged tells whether the load generator must be fit in a phase for the trial to be believed.
func judged(phase string) bool { return phase == "measure" || phase == "baseline" }

// generator is how the load generator has fared in the phase under way.
func (d *cellRun) generator() progress.Generator {
	g := progress.Generator{
		Seconds: d.health.Seconds(), Open: d.now.Open, Late: d.health.Late(), CapShare: d.health.CapShare(), CPUShare: d.health.CPUShare(), Stall: d.health.Stall(),
		Judged: judged(d.now.Phase) && !d.trial.CountsOnly(),
	}
	if !g.Judged {
		return g
	}
	for _, reason := range d.health.Reasons(d.responses.Snapshot()) {
		g.Doubts = append(g.Doubts, reason.String())
	}
	return g
}

// What of a change's response times may be the generator's own before it is said.
const (
	leastLateness      = time.Millisecond
	leastLatenessShare = 0.1 // of the p99
)

// admit notes of a change how much of its response times is not the database's doing: its steps are executed where the load comes from.
func (d *cellRun) admit(at string, late time.Duration, response series.Snapshot) {
	d.admitted.judged++
	p99 := response.Quantile(0.99)
	if late <= leastLateness || late.Seconds() <= leastLatenessShare*p99.Seconds() {
		return
	}
	d.admitted.add(at, load.Reason{What: load.Late, Excess: late.Seconds(), Detail: fmt.Sprintf(
		"(p99 %v of %v): the load generator, not the database, caused this part of the response times",
		late.Round(100*time.Microsecond), p99.Round(100*time.Microsecond))})
}

// doubts collects what was wrong with the load generator: what many phases suffered from is one reason.
type doubts struct {
	judged int // phases
	all    []*doubt
}

// doubt is a fault of one loader, and the phases that had it.
type doubt struct {
	phases int
	where  string // the phase that suffered most
	worst  load.Reason
}

func (d *doubts) add(where string, r load.Reason) {
	for _, known := range d.all {
		if known.worst.What != r.What || known.worst.Loader != r.Loader {
			continue
		}
		if known.phases++; r.Excess > known.worst.Excess {
			known.where, known.worst = where, r
		}
		return
	}
	d.all = append(d.all, &doubt{phases: 1, where: where, worst: r})
}

// reasons says each fault once.
func (d *doubts) reasons() []string {
	var out []string
	for _, found := range d.all {
		if found.phases == 1 {
			out = append(out, fmt.Sprintf("%s: %s", found.where, found.worst))
			continue
		}
		out = append(out, fmt.Sprintf("in %d of %d measured phases, worst in %s: %s", found.phases, d.judged, found.where, found.worst))
	}
	return out
}

// advice is what to do about them.
func (d *doubts) advice() []string {
	var worst []load.Reason
	for _, found := range d.all {
		worst = append(worst, found.worst)
	}
	return load.Advice(worst)
}

// doubtGenerator lets what was wrong with the load generator count against the trial, and notes what it was while something was changed.
func (r *runner) doubtGenerator() {
	say := r.invalidate
	if r.trial.CountsOnly() { // what was acknowledged and is lost is so, however late the generator was
		say = r.note
	}
	for _, reason := range r.doubts.reasons() {
		say("%s", reason)
	}
	for _, aside := range r.admitted.reasons() {
		r.note("%s.", aside)
	}
}
