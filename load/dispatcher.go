package load

import (
	"math"
	"sync"
	"time"
)

// dispatcher hands the operations of a schedule to the workers of an open loop, in order, each to
//
//   - a connection that is free; if there is none,
//   - one that is down, where it fails at once, as a request to a pool that must first connect would; if there is none,
//   - the first that becomes free.
//
// The operations that wait are nowhere but in the schedule. Of the workers that wait, one is on watch: its alarm is set to
// when the next operation is due. It takes that operation itself and sets the alarm of the next in line, which costs
// one wake per operation and no hand-over between threads.
type dispatcher struct {
	run *run

	mu    sync.Mutex
	next  arrivals
	taken int64 // operations handed out

	watch    *worker
	idle     line          // connected
	down     line          // not connected
	earliest time.Duration // for the next alarm

	guardian
}

// arrivals is where a sequence of operations stands.
type arrivals struct {
	due     time.Duration // when the next operation is; never, past the last
	advance func() (time.Duration, bool)
}

const never = time.Duration(math.MaxInt64)

func newArrivals(s Schedule) arrivals {
	a := arrivals{advance: s.Arrivals()}
	a.step()
	return a
}

func (a *arrivals) step() {
	due, ok := a.advance()
	if !ok {
		due = never
	}
	a.due = due
}

// An alarm costs some 20 µs of processor time. Above 10,000 operations a second several share one, at the price of starting
// at most this much late; bursts below that rate do not.
const (
	alarmEvery = 100 * time.Microsecond
	alarmBurst = 10
)

// place is a worker's part in the dispatcher, under its lock.
type place struct {
	alarm     Alarm
	connected bool
	free      bool  // connected and without an operation
	line      *line // in which it waits
}

// order is what a worker is to do.
type order struct {
	do              action
	due, start, lag time.Duration
}

type action int

const (
	serve  action = iota
	refuse        // book it as an error, for want of a connection
	skip          // book it as skipped
	leave         // there is nothing more to do
)

func newDispatcher(r *run, workers []*worker) *dispatcher {
	for _, w := range workers {
		w.connected = true
	}
	return &dispatcher{
		run:  r,
		next: newArrivals(r.spec.Schedule),
		idle: newLine(len(workers)),
		down: newLine(len(workers)),
	}
}

// order waits until there is something to do for w, which is without an operation since a moment.
func (d *dispatcher) order(w *worker, now time.Duration) order {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		switch stop := d.run.stopAt(); {
		case now >= stop && d.next.due >= stop:
			return order{do: leave}
		case now >= stop, d.next.due <= now && (w.connected || d.free == 0):
			return d.take(w, now)
		}
		d.park(w, now)
		d.mu.Unlock()
		w.journal.begin(resting)
		w.alarm.Wait()
		now = d.run.now()
		d.mu.Lock()
		d.unpark(w)
	}
}

// take gives w the operation that is due.
func (d *dispatcher) take(w *worker, now time.Duration) order {
	o := order{due: d.next.due, start: now}
	d.next.step()
	d.taken++
	switch limit := d.run.spec.Limit; {
	case now >= d.run.stopAt(), limit > 0 && now-o.due > limit:
		o.do = skip
	case !w.connected:
		o.do = refuse
	default:
		o.lag = d.starts(w, o.due, now)
	}
	d.post(now)
	return o
}

// park makes w wait in line.
func (d *dispatcher) park(w *worker, now time.Duration) {
	if w.connected {
		d.rests(w)
		d.idle.push(w)
	} else {
		d.down.push(w)
	}
	d.post(now)
}

// post sees that somebody is on watch if anybody waits.
func (d *dispatcher) post(now time.Duration) {
	if d.watch != nil {
		return
	}
	if d.watch = d.idle.pop(); d.watch == nil {
		d.watch = d.down.pop()
	}
	d.arm(now)
}

func (d *dispatcher) unpark(w *worker) {
	if d.watch == w {
		d.watch = nil
	}
	if w.line != nil {
		w.line.remove(w)
	}
}

// arm sets the alarm of the worker on watch, if there is one.
func (d *dispatcher) arm(now time.Duration) {
	switch {
	case d.watch == nil || d.next.due == never:
	case d.next.due <= now:
		d.watch.alarm.Ring()
	default:
		d.earliest = max(d.earliest+alarmEvery, now-alarmBurst*alarmEvery)
		d.watch.alarm.Set(max(d.next.due, d.earliest) - now)
	}
}

// lost says that w has no connection any more.
func (d *dispatcher) lost(w *worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.connected = false
}

// back says that w has its connection again. If it waits, it does so among those that have none, and must move.
func (d *dispatcher) back(w *worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.connected = true
	w.alarm.Ring()
}

// stop wakes everyone who waits.
func (d *dispatcher) stop(workers []*worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range workers {
		w.alarm.Ring()
	}
}

// reading returns for how long, since the last, operations waited for a connection, and how many operations were handed
// out so far.
func (d *dispatcher) reading(now time.Duration) (capped time.Duration, taken int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.takeCapped(d.next.due, now), d.taken
}

// empty reports whether every operation of the schedule has been handed out.
func (d *dispatcher) empty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next.due == never
}
