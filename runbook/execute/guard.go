package execute

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// Meter reads live metrics of the cluster, by name; dots make groups: mysql.threads_running.
type Meter interface {
	Read(ctx context.Context) (map[string]float64, error)
}

// Baselined is a meter that knows of some metrics what they were while nothing was done: a trial's load. The others'
// baseline is the mean before the first act.
type Baselined interface{ Baseline() map[string]float64 }

// guard watches the guardrails of a run.
type guard struct {
	rails   []runbook.Guardrail
	runbook *runbook.Runbook
	proofs  []string // metrics that proofs of steps hold against their baseline
	meter   Meter
	changed chan struct{} // one token when the state changed

	began time.Time

	mu       sync.Mutex
	baseline map[string]float64
	given    map[string]float64 // of the baseline, known beforehand
	samples  map[string]int     // readings of each metric in the baseline: a rate begins with the second
	stop     string             // why the run is to fail: a breach that says so is one for good
	stopper  string             // the rail whose breach that is
	frozen   bool               // the baseline is complete
	since    []time.Time
	clear    []time.Time
	breach   []breach // by rail: why, "" while it holds
	told     []bool   // by rail: a reading has told whether it is breached
	found    []bool   // by rail: the first such reading found a breach, which may be old: nothing tells how long it has lasted
	breached string   // the rail that was breached last
	lately   time.Time
	at       time.Time
	last     map[string]float64
}

func newGuard(b *runbook.Runbook, m Meter) *guard {
	n := len(b.Guardrails)
	g := &guard{
		rails: b.Guardrails, runbook: b, proofs: provedMetrics(b), meter: m, began: time.Now(), changed: make(chan struct{}, 1), baseline: map[string]float64{}, samples: map[string]int{},
		since: make([]time.Time, n), clear: make([]time.Time, n), breach: make([]breach, n), told: make([]bool, n), found: make([]bool, n),
	}
	if known, ok := m.(Baselined); ok {
		g.given = known.Baseline()
		maps.Copy(g.baseline, g.given)
	}
	return g
}

// guardEvery is how often metrics are read; guardStale is when the last reading is too old to act on; guardQuiet is how long
// no act begins after a breach that is gone.
const (
	guardEvery = time.Second
	guardStale = 4 * time.Second
	guardQuiet = 5 * time.Second
)

// watch reads the metrics until ctx ends.
func (g *guard) watch(ctx context.Context) {
	if len(g.rails) == 0 && g.meter == nil {
		return
	}
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		g.sample(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (g *guard) sample(ctx context.Context) {
	var values map[string]float64
	err := fmt.Errorf("nothing reads the metrics of this cluster")
	if g.meter != nil {
		limited, cancel := context.WithTimeout(ctx, 2*guardEvery)
		values, err = g.meter.Read(limited)
		cancel()
	}
	if ctx.Err() == nil {
		g.judge(time.Now(), values, err)
	}
}

// judge takes one reading.
func (g *guard) judge(now time.Time, values map[string]float64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at, g.last = now, values
	if err == nil && !g.frozen {
		for name, v := range values {
			if _, known := g.given[name]; !known {
				g.samples[name]++
				g.baseline[name] += (v - g.baseline[name]) / float64(g.samples[name])
			}
		}
	}
	env := nested(values)
	env["baseline"] = nested(g.baseline)
	for i, rail := range g.rails {
		var found breach
		if err != nil {
			found = breach{why: "no data: " + err.Error(), blind: true}
		} else if is, evalErr := g.runbook.Truth(rail.When, env); evalErr != nil {
			missing := noMetric(rail.When, values)
			found = breach{why: "no data: " + cmp.Or(missing, evalErr.Error()), blind: true, missing: missing != ""}
		} else if is {
			found = breach{why: rail.When}
		}
		g.book(i, rail, now, found)
	}
}

// book turns a reading into a state: a breach counts after For, and is over after being gone for For. A breach that the first reading
// finds keeps acts from beginning until it is gone or counts, unless the run has changed something before.
func (g *guard) book(i int, rail runbook.Guardrail, now time.Time, is breach) {
	before, foundBefore := g.breach[i], g.found[i]
	if !is.blind {
		g.found[i] = is.why != "" && (g.found[i] || !g.told[i])
		g.told[i] = true
	}
	if is.why != "" {
		g.clear[i] = time.Time{}
		if g.since[i].IsZero() {
			g.since[i] = now
		}
		if now.Sub(g.since[i]) >= rail.For || is.blind {
			g.breach[i] = is
			if thenOf(rail, is) == runbook.GuardStop && g.stop == "" && !(is.missing && now.Sub(g.began) < guardStale) {
				g.stop, g.stopper = rail.Name+": "+is.why, rail.Name
			}
		}
	} else {
		g.since[i] = time.Time{}
		if g.clear[i].IsZero() {
			g.clear[i] = now
		}
		if now.Sub(g.clear[i]) >= rail.For {
			g.breach[i] = breach{}
		}
	}
	if g.breach[i].why != "" && is.why != "" && !is.blind {
		g.breached, g.lately = rail.Name, now
	}
	if (before.why == "") != (g.breach[i].why == "") || foundBefore != g.found[i] {
		select {
		case g.changed <- struct{}{}:
		default:
		}
	}
}

// breach is what breaks a guardrail: its condition holds, or, blind, there are no metrics to tell. Without a why nothing does.
type breach struct {
	why     string
	blind   bool
	missing bool // others were read, and not one that it names: a rate is known from the second reading on
}

// state tells why no act may begin now; empty: one may. stop says that the run is to fail of it.
func (g *guard) state(now time.Time) (reason string, stop bool) {
	if len(g.rails)+len(g.proofs) == 0 {
		return "", false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unread(now) {
		return "the baseline that a verify expression needs was not read before the change", false
	}
	if len(g.rails) == 0 {
		return "", false
	}
	if g.stop != "" {
		return g.stop, true
	}
	if g.at.IsZero() || now.Sub(g.at) > guardStale {
		return "the metrics were not read in the last seconds", false
	}
	for i, rail := range g.rails {
		switch {
		case g.breach[i].why != "":
			reason = rail.Name + ": " + g.breach[i].why
		case g.found[i]:
			reason = fmt.Sprintf("%s: %s was already true at the first reading; it counts as a breach once it has lasted %s", rail.Name, rail.When, rail.For)
		}
	}
	if reason == "" && now.Sub(g.lately) < guardQuiet {
		reason = fmt.Sprintf("%s: it was breached less than %s ago", g.breached, guardQuiet)
	}
	return reason, false
}

// holding is the guardrail that holds, "" for none in particular, and whether that is for want of metrics, not for what they say.
func (g *guard) holding(now time.Time) (rail string, blind bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at.IsZero() || now.Sub(g.at) > guardStale {
		return "", true
	}
	rail = g.breached
	for i := range g.rails {
		if g.breach[i].why != "" || g.found[i] {
			rail, blind = g.rails[i].Name, g.breach[i].blind
		}
	}
	return rail, blind
}

// stoppedBy is the guardrail of which the run is to fail, "" while there is none.
func (g *guard) stoppedBy() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stopper
}

// young tells whether the first reading may still be on its way, of everything that is asked for.
func (g *guard) young(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.began) >= guardStale {
		return false
	}
	return g.at.IsZero() || g.unread(now) || slices.ContainsFunc(g.breach, func(b breach) bool { return b.missing })
}

// unread tells whether the baseline that proofs need may still be on its way. What is not there after a moment is not waited for: the
// proof says that it cannot tell.
func (g *guard) unread(now time.Time) bool {
	return !g.frozen && now.Sub(g.began) < guardStale && slices.ContainsFunc(g.proofs, func(name string) bool { return g.samples[name] == 0 })
}

// reading is the last one, nil if there was none or it is old.
func (g *guard) reading(now time.Time) map[string]float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.at) > guardStale {
		return nil
	}
	return g.last
}

// settle ends the baseline: what is measured from now on may be the run's own doing.
func (g *guard) settle() map[string]float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.frozen = true
	return g.baseline
}

// restore takes what an earlier session left: its baseline, and what held it until then.
func (g *guard) restore(s *journal.State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.Baseline != nil {
		g.baseline, g.frozen = s.Baseline, true
	}
	if slices.ContainsFunc(s.Items, func(i *journal.Step) bool { return i.Acts && !s.Looks(i) }) {
		for i := range g.told {
			g.told[i] = true // the run is in its middle, where For keeps a short peak from stopping it
		}
	}
	if s.Held != "" && !s.Blind {
		g.breached, g.lately = cmp.Or(s.Guardrail, "a guardrail"), s.Changed // an older journal does not name it
	}
}

// nested makes groups of names with dots.
func nested(values map[string]float64) map[string]any {
	out := map[string]any{}
	for name, v := range values {
		at := out
		parts := groupsOf(name)
		for _, part := range parts[:len(parts)-1] {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
		at[parts[len(parts)-1]] = v
	}
	return out
}

// groupsOf splits the name of a metric. A watched series is one name, with all dots that are in it.
func groupsOf(name string) []string {
	if expression, is := runbook.WatchedBy(name); is {
		return []string{"watch", expression}
	}
	return strings.Split(name, ".")
}

// thenOf is what a breach leads to.
func thenOf(g runbook.Guardrail, b breach) runbook.GuardThen {
	if b.blind {
		return g.NoData
	}
	return g.Then
}
