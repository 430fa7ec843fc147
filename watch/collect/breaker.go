package collect

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/watch"
)

// meter remembers how long our own last queries took.
type meter struct {
	mu    sync.Mutex
	last  [20]time.Duration // a ring: at 1 s it covers the last few seconds
	count int
	since time.Time // of the first that counts for the rate
}

func (m *meter) took(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == 0 {
		m.since = time.Now()
	}
	m.last[m.count%len(m.last)] = d
	m.count++
}

// p95 of the last twenty is the second longest; of fewer than five nothing is said.
func (m *meter) p95() (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(m.count, len(m.last))
	if n < 5 {
		return 0, false
	}
	sorted := slices.Clone(m.last[:n])
	slices.Sort(sorted)
	return sorted[n-2], true
}

// least is the shortest of the last twenty: about what the way to the server and back takes. 0: there was none.
func (m *meter) least() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == 0 {
		return 0
	}
	return slices.Min(m.last[:min(m.count, len(m.last))])
}

func (m *meter) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count = 0
}

// rate is how many queries there were a second.
func (m *meter) rate() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := time.Since(m.since).Seconds(); m.count > 0 && d >= 1 {
		return float64(m.count) / d
	}
	return float64(m.count)
}

// The breaker's limits.
const (
	slowAnswer   = 50 * time.Millisecond // the p95 of our own queries from which on a server is left alone
	firstPause   = 5 * time.Second
	longestPause = time.Minute
	distressed   = 4.0              // running threads for each core
	lookEvery    = 10 * time.Second // at a server in distress
)

// breaker decides how much a server may be asked. It is shared by the connections to one server.
type breaker struct {
	meter *meter
	slow  time.Duration // the p95 from which on it stops; 0: slowAnswer

	mu     sync.Mutex
	until  time.Time     // it is not asked before
	pause  time.Duration // the last
	reason string
	strain string    // it is in distress; "" if not
	next   time.Time // it is looked at again, in distress
	stays  bool      // it is looked at every second in distress too
}

// Attend has collectors read a server in distress on, every second what they read every second: a run whose guardrails name its series is to see that.
func Attend(all []watch.Collector) {
	for _, c := range all {
		if q, is := c.(*quick); is {
			q.breaker.mu.Lock()
			q.breaker.stays = true
			q.breaker.mu.Unlock()
		}
	}
}

// allowed says which level may be read now, and why not all of it.
func (b *breaker) allowed(now time.Time, want watch.Level) (level watch.Level, ask bool, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return want, false, b.reason
	}
	switch {
	case b.strain == "":
		return want, true, ""
	case !b.stays && now.Before(b.next):
		return want, false, b.strain
	}
	return watch.Second, true, b.strain
}

// spares is how an instance is shown that is not asked for all that is due: in distress, or slow to answer.
func (b *breaker) spares(now time.Time) watch.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return watch.Paused
	}
	return watch.Reduced
}

// judge looks at how the last visit went.
func (b *breaker) judge(now time.Time) {
	p95, known := b.meter.p95()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case known && p95 > cmp.Or(b.slow, slowAnswer):
		b.pause = min(max(2*b.pause, firstPause), longestPause)
		b.until = now.Add(b.pause)
		b.reason = fmt.Sprintf("Plimsoll's own queries took %d ms (p95), so Plimsoll does not poll this instance for %d s", p95.Milliseconds(), int(b.pause.Seconds()))
		b.meter.forget()
	case known && now.After(b.until.Add(longestPause)):
		b.pause = 0
	}
}

// strained notes how many threads run on how many cores; of 0 cores nothing is said. A server in distress is left alone but for a look now and then, by
// which it is seen what it waits for and that the distress is over.
func (b *breaker) strained(now time.Time, running float64, cores int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.strain = ""
	if cores > 0 && running > distressed*float64(cores) && running > 16 {
		b.next = now.Add(lookEvery - time.Second/2) // a visit may begin a little early
		b.strain = fmt.Sprintf("%.0f threads are running on %d cores, so Plimsoll looks at this instance only every %d s", running, cores, int(lookEvery.Seconds()))
	}
}

// resume ends a pause, and a distress: an instance that does not answer is tried like any other, and the reason may be gone with it.
func (b *breaker) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until, b.strain = time.Time{}, ""
}

// led completes the reading of a collector that leads: which level the instance was spared, and how it is shown. Of one that got no answer
// nothing is kept that was read before the error: it would be told as of a server that is down.
func led(r *watch.Reading, now time.Time, want, may watch.Level, ask bool, why string, spared watch.State, err error) {
	if !ask || may < want {
		r.Missed = want
	}
	if err != nil {
		r.Samples = nil
	}
	r.Add(now, "plimsoll_watch_paused", oneIf(why != "" && err == nil)) // of one that is down, nothing is paused
	read := r.Show
	r.Show = func(i *watch.Instance) {
		if read != nil {
			read(i)
		}
		if why != "" { // which says nothing of the instance's own state, which may be well
			i.State, i.Why = spared, why
		}
	}
}
