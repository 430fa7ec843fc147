package load

import (
	"context"
	"time"

	"plimsoll/series"
)

// clockwork turns a run's pages each second, gives up operations that hang, and ends the run.
type clockwork struct {
	*run
	seconds chan<- Second

	from time.Duration // where the current second began
	to   time.Duration // where it is to end

	cpuAtStart, cpu time.Duration // used up to the start of the run, of the second

	wake  time.Duration // when the next look is due
	stall time.Duration // by how much the latest look of the second came late

	ahead arrivals // of an open loop's schedule, up to now
	due   int64    // operations that were due up to there
}

const (
	// Operations that hang are looked for so often.
	scanEvery = 100 * time.Millisecond
	// The end of a load belongs to its last second if all that is under way ends within this time.
	lastSecondMore = 500 * time.Millisecond
)

func newClockwork(r *run, seconds chan<- Second) *clockwork {
	c := &clockwork{run: r, seconds: seconds, to: time.Second, cpuAtStart: cpuTime()}
	c.cpu = c.cpuAtStart
	if r.dispatcher != nil {
		c.ahead = newArrivals(r.spec.Schedule)
	}
	return c
}

// keepTime returns when the workers have ended, which they do once ctx has or the duration has passed.
func (c *clockwork) keepTime(ctx context.Context, ended <-chan struct{}) {
	tick := time.NewTimer(0)
	defer tick.Stop()
	cancelled := ctx.Done()
	for {
		select {
		case <-ended:
			c.turn(c.now())
			return
		case <-cancelled:
			cancelled = nil
			c.stopWorkers()
		case <-tick.C:
		}
		now := c.now()
		c.stall = max(c.stall, now-c.wake)
		if !c.stopped && (now >= c.stopAt() || c.scheduleOver()) {
			c.stopWorkers()
		}
		if c.stopped {
			c.to = max(c.to, c.stopAt()+lastSecondMore)
		}
		c.giveUp(now)
		if now >= c.to {
			c.turn(now)
		}
		next := min(now+scanEvery, c.to)
		if !c.stopped {
			next = min(next, c.stopAt())
		}
		now = c.now() // whoever takes the seconds may have let us wait
		c.wake = max(next, now)
		tick.Reset(c.wake - now)
	}
}

func (c *clockwork) scheduleOver() bool {
	return c.dispatcher != nil && c.spec.Duration == 0 && c.dispatcher.empty()
}

// giveUp interrupts what has been under way for too long; some time after the end, that is everything.
func (c *clockwork) giveUp(now time.Duration) {
	startedBefore := now - c.spec.Timeout
	if c.stopped && now >= c.stopAt()+c.spec.Grace {
		startedBefore = now + 1
		defer c.endWork()
	}
	for _, w := range c.workers {
		w.journal.giveUp(startedBefore, w.client.Interrupt)
	}
}

// turn ends the current second and hands it on.
func (c *clockwork) turn(now time.Duration) {
	for _, w := range c.workers {
		c.recorder.drain(&w.journal)
	}
	s := Second{Start: c.at(c.from), Length: now - c.from}
	var lag series.Snapshot
	s.Operations, lag = c.recorder.turn(s.Start, s.Length)
	if s.Length == 0 && len(s.Operations) == 0 {
		return
	}
	s.Guard = c.guard(now)
	s.Guard.StartLag, s.Guard.StartLagP99 = lag, lag.Quantile(0.99)
	c.seconds <- s
	c.from = now
	c.to = now.Truncate(time.Second) + time.Second
}

func (c *clockwork) guard(now time.Duration) GuardSecond {
	g := GuardSecond{Lost: int(c.lost.Load()), Stall: c.stall}
	c.stall = 0
	length := max(now-c.from, 1)
	cpu := cpuTime()
	g.CPUShare = float64(cpu-c.cpu) / float64(length) / float64(processors)
	c.cpu = cpu
	if c.dispatcher == nil {
		return g
	}
	for ; c.ahead.due <= now && c.ahead.due < c.stopAt(); c.due++ {
		c.ahead.step()
	}
	capped, taken := c.dispatcher.reading(now)
	g.CapShare = min(float64(capped)/float64(length), 1)
	g.Backlog = max(c.due-taken, 0)
	return g
}

// at is a moment of the run by the calendar.
func (c *clockwork) at(moment time.Duration) time.Time { return c.begun.Add(moment).Round(0) }
