package report

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/result"
	"plimsoll/trial/progress"

	"plimsoll/report/quantity"
	"plimsoll/series"
)

// liveState is what is known of a running trial: the updates so far, boiled down to what a screen shows. It keeps an hour
// of seconds, so that a trial may run for days.
type liveState struct {
	began  time.Time
	plan   progress.Plan
	planAt time.Time
	stage  progress.Stage
	length time.Duration      // of the phase under way; 0: open
	run    run                // under way
	load   progress.Generator // how the load generator has fared in the phase under way
	done   map[string]result.Cell
	recent []series.Event // the last few
	answer *result.Verdict
	most   float64 // share that was said: it is never taken back
}

const (
	keptSeconds = 3600
	keptEvents  = 20
)

func newLiveState(now time.Time) *liveState {
	return &liveState{began: now, done: map[string]result.Cell{}}
}

// observe takes an update in.
func (p *liveState) observe(u progress.Update, now time.Time) {
	switch u := u.(type) {
	case progress.Plan:
		p.plan, p.planAt = u, now
	case progress.Stage:
		p.stage = u
	case progress.Second:
		p.second(u.Row)
		p.load = u.Generator
	case progress.PhaseBegan:
		p.phase(u, now)
	case progress.Happened:
		if u.Kind.Group() == series.OfPhases {
			return
		}
		if shownOtherwise(u.Event) { // the seconds and the phases show them
			return
		}
		p.recent = append(p.recent, u.Event)
		p.recent = p.recent[max(len(p.recent)-keptEvents, 0):]
	case progress.CellDone:
		p.done[u.Name] = u.Cell
	case progress.Finished:
		p.answer = &u.Verdict
	}
}

func (p *liveState) second(row result.Row) {
	p.enter(row.Cell, row.Round)
	u := &p.run
	if len(u.rows) >= 2*keptSeconds {
		u.rows = slices.Clone(u.rows[len(u.rows)-keptSeconds:])
	}
	u.rows = append(u.rows, row)
	u.Start, u.End = u.rows[0].Time, row.Time.Add(max(row.Length, time.Second))
}

// phase ends the phase under way and begins the next.
func (p *liveState) phase(b progress.PhaseBegan, now time.Time) {
	p.enter(b.Cell, b.Round)
	if b.From.IsZero() {
		b.From = now
	}
	if n := len(p.run.Phases); n > 0 && p.run.Phases[n-1].To.IsZero() {
		p.run.Phases[n-1].To = b.From
	}
	b.To = time.Time{}
	p.run.Phases = append(p.run.Phases, b.Phase)
	p.length, p.load = b.Length, progress.Generator{}
}

// enter begins anew when another cell or round is under way.
func (p *liveState) enter(cell string, round int) {
	if p.run.Cell != cell || p.run.Round != round {
		p.run = run{Cell: cell, Round: round}
	}
}

// window is the run under way as a picture needs it: phases clipped to the seconds that are kept, the last one open.
func (p *liveState) window() *run {
	u := p.run
	u.Phases = nil
	for _, ph := range p.run.Phases {
		if ph.To.IsZero() || ph.To.After(u.End) {
			ph.To = u.End
		}
		if ph.From.Before(u.Start) {
			ph.From = u.Start
		}
		if ph.To.After(ph.From) {
			u.Phases = append(u.Phases, ph)
		}
	}
	u.Events = slices.DeleteFunc(slices.Clone(p.recent), func(e series.Event) bool { return e.Time.Before(u.Start) || !e.Time.Before(u.End) })
	return &u
}

// left is how long the trial will still take; ok is false when that is not known, or no longer: it takes longer than it should.
func (p *liveState) left(now time.Time) (d time.Duration, ok bool) {
	d = p.plan.Left - now.Sub(p.planAt)
	return d, d > 0 && p.answer == nil
}

// nearlyDone is the most that is said to be done of a trial that has not ended.
const nearlyDone = 0.99

// share is how much of the trial is done, 0 to 1.
func (p *liveState) share(now time.Time) float64 {
	if p.answer != nil {
		return 1
	}
	if p.plan.Trial == "" {
		return 0
	}
	left, _ := p.left(now)
	elapsed := now.Sub(p.began)
	p.most = max(p.most, min(float64(elapsed)/float64(max(elapsed+left, 1)), nearlyDone))
	return p.most // where it takes longer than was thought, the time left says so
}

// what says in a line what the trial is busy with.
func (p *liveState) what() string {
	if p.answer != nil {
		return "finished"
	}
	s := string(p.stage.Doing)
	if s == "" {
		return "preparing"
	}
	if p.stage.Cell != "" {
		s += " " + p.stage.Cell
	}
	if p.stage.Round > 0 && p.plan.Rounds > 1 {
		s += fmt.Sprintf(", round %d of %d", p.stage.Round, p.plan.Rounds)
	}
	if d := p.stage.Detail; d != "" {
		s += ": " + d
	}
	return s
}

// how says how far that is: a share, or the time of the phase.
func (p *liveState) how(now time.Time) string {
	if p.stage.Share > 0 {
		return quantity.Share.Format(p.stage.Share)
	}
	phase, ok := p.phaseNow()
	if !ok || p.length <= 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s", quantity.Duration(spent(phase, now)), quantity.Duration(p.length))
}

// phaseNow is the phase under way, while there is load.
func (p *liveState) phaseNow() (phase result.Phase, ok bool) {
	n := len(p.run.Phases)
	if n == 0 || p.answer != nil || p.run.Cell != p.stage.Cell || p.stage.Doing != progress.Measuring && p.stage.Doing != progress.WarmingUp && p.stage.Doing != progress.Disturbing {
		return phase, false
	}
	return p.run.Phases[n-1], true
}

// spent is how long a phase has lasted, in whole seconds.
func spent(phase result.Phase, now time.Time) time.Duration {
	return max(now.Sub(phase.From).Truncate(time.Second), time.Second)
}

// latest is the last second of load, if there was one.
func (p *liveState) latest() (*result.Row, bool) {
	if len(p.run.rows) == 0 {
		return nil, false
	}
	return &p.run.rows[len(p.run.rows)-1], true
}

// reading is a second in words.
func reading(row *result.Row) string {
	s := quantity.Number(float64(row.Done+row.Late)/length(row)) + " op/s"
	if row.Response.P99 > 0 {
		s += ", p99 " + quantity.Duration(row.Response.P99)
	}
	if row.Errors > 0 {
		s += fmt.Sprintf(", %d errors", row.Errors)
	}
	return s
}
