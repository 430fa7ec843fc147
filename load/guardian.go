package load

import "time"

// guardian tells the generator's own lateness from the server's, under the dispatcher's lock.
//
// While a connection is free nothing is due: a worker rests only then. So what passes between the moment at which an
// operation is due and its start is start lag, ours, if a connection was free; if none was, it is the server's, and
// counts as being at the cap from when the operation was the first to wait.
type guardian struct {
	free   int           // connections without an operation
	capped time.Duration // time at the cap, since it was last asked for
	until  time.Duration // what was before is counted, or was no such time
}

// starts notes that w starts an operation that was due at a moment, and returns its start lag.
func (g *guardian) starts(w *worker, due, now time.Duration) (lag time.Duration) {
	if g.free > 0 {
		lag = max(now-due, 0)
		g.until = max(g.until, now)
	} else {
		g.atCap(due, now)
	}
	if w.free {
		w.free = false
		g.free--
	}
	return lag
}

// rests notes that w has nothing to do.
func (g *guardian) rests(w *worker) {
	if !w.free {
		w.free = true
		g.free++
	}
}

func (g *guardian) atCap(due, now time.Duration) {
	g.capped += max(now-max(due, g.until), 0)
	g.until = max(g.until, now)
}

// takeCapped returns how long the connections were at the cap since it was last asked, with the next operation due at
// a moment.
func (g *guardian) takeCapped(due, now time.Duration) time.Duration {
	if g.free == 0 && due <= now {
		g.atCap(due, now)
	}
	capped := g.capped
	g.capped = 0
	return capped
}
