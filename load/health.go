package load

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/series"
)

// Health is how a load generator has fared over seconds that come one by one: at any moment it says what Judge says of all of them.
type Health struct {
	seconds int
	cpu     float64 // shares, added
	all     *pace
	loaders []*pace // of a load that several processes issue, in the order in which they came
}

// NewHealth begins.
func NewHealth() *Health { return &Health{all: newPace("")} }

// Add takes in a second.
func (h *Health) Add(s GuardSecond) {
	h.seconds++
	h.cpu += s.CPUShare
	h.all.add(s)
	for _, l := range s.Loaders {
		n := slices.IndexFunc(h.loaders, func(p *pace) bool { return p.loader == l.Loader })
		if n < 0 {
			h.loaders, n = append(h.loaders, newPace(l.Loader)), len(h.loaders)
		}
		h.loaders[n].add(l.GuardSecond)
	}
}

// Reasons are why what was measured in these seconds, with these response times, is INVALID; none if it is not.
func (h *Health) Reasons(response series.Snapshot) (reasons []Reason) {
	if h.seconds == 0 {
		return nil
	}
	for _, p := range h.paces() {
		reasons = append(reasons, p.reasons(response)...)
	}
	if cpu := h.CPUShare(); cpu > maxCPUShare {
		reasons = append(reasons, Reason{What: Starved, Excess: cpu / maxCPUShare,
			Detail: fmt.Sprintf("(%.0f %%, allowed %.0f %%)", 100*cpu, 100*maxCPUShare)})
	}
	return reasons
}

// Seconds is how many it speaks of.
func (h *Health) Seconds() int { return h.seconds }

// Late is by how much, at p99, operations started late although a connection was free for them, of the loader that was latest.
func (h *Health) Late() time.Duration { return worst(h, (*pace).late) }

// CapShare is the share of the time in which all connections were busy and operations waited, of the loader that had most of it.
func (h *Health) CapShare() float64 { return worst(h, (*pace).capShare) }

// Stall is the longest time for which a loader got no turn on a processor.
func (h *Health) Stall() time.Duration {
	return worst(h, func(p *pace) time.Duration { return p.longest })
}

// CPUShare is what the load generator used of its machine's processors, of the busiest machine.
func (h *Health) CPUShare() float64 { return h.cpu / float64(max(h.seconds, 1)) }

// paces are those that are judged: of each loader by itself, where there are several.
func (h *Health) paces() []*pace {
	if len(h.loaders) == 0 {
		return []*pace{h.all}
	}
	return h.loaders
}

func worst[T time.Duration | float64](h *Health, of func(*pace) T) (most T) {
	for _, p := range h.paces() {
		most = max(most, of(p))
	}
	return most
}

// pace is how one loader kept to its schedule.
type pace struct {
	loader  string // "": the only one, or all
	seconds int
	lag     *series.Histogram
	capped  float64       // shares, added
	stalled time.Duration // without a turn, where that was more than a scheduler's usual one
	longest time.Duration
}

func newPace(loader string) *pace { return &pace{loader: loader, lag: series.NewHistogram()} }

func (p *pace) add(s GuardSecond) {
	p.seconds++
	p.lag.Add(s.StartLag)
	p.capped += s.CapShare
	if s.Stall >= minStall {
		p.stalled += s.Stall
	}
	p.longest = max(p.longest, s.Stall)
}

func (p *pace) late() time.Duration { return p.lag.Quantile(0.99) }
func (p *pace) capShare() float64   { return p.capped / float64(max(p.seconds, 1)) }

// reasons says what was wrong with the pace.
func (p *pace) reasons(response series.Snapshot) (reasons []Reason) {
	median := response.Quantile(0.5)
	bound := max(maxStartLag, time.Duration(maxStartLagShare*float64(median)))
	if p99 := p.late(); p99 > bound {
		reasons = append(reasons, Reason{Loader: p.loader, What: Late, Excess: float64(p99) / float64(bound),
			Detail: fmt.Sprintf("(p99 %.1f ms, allowed %.1f ms: %.0f %% of the median response time of %.1f ms, %.0f ms at least; the p99 response time, which includes it, is %.1f ms)",
				1e3*p99.Seconds(), 1e3*bound.Seconds(), 100*maxStartLagShare, 1e3*median.Seconds(), 1e3*maxStartLag.Seconds(), 1e3*response.Quantile(0.99).Seconds())})
	}
	if capped := p.capShare(); capped > maxCapShare {
		reasons = append(reasons, Reason{Loader: p.loader, What: Capped, Excess: capped / maxCapShare,
			Detail: fmt.Sprintf("in %.2f %% of the time, allowed %.2f %%; give it more connections", 100*capped, 100*maxCapShare)})
	}
	if share := p.stalled.Seconds() / float64(p.seconds); share > maxStallShare {
		reasons = append(reasons, Reason{Loader: p.loader, What: Stalled, Excess: share / maxStallShare,
			Detail: fmt.Sprintf("for up to %v at a time, %.1f %% of the time, allowed %.0f %%; the machine was busy with something else",
				p.longest.Round(time.Millisecond), 100*share, 100*maxStallShare)})
	}
	return reasons
}
