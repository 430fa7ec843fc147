package load

import "time"

// guardian tells the generator's own lateness from the server's, under the dispatcher's lock.
//
// An operation could have started when it was due and a connection was free. What passed from then until it started is
// start lag, ours. What passed while every connection was busy is the server's, and counts as being at the cap.
type guardian struct {
	free      int           // connections without an operation
	freeSince time.Duration // when free last rose from 0
	fullSince time.Duration // when it last fell to 0
	capped    time.Duration // time at the cap in this second
	capUntil  time.Duration // up to where capped is counted
}

// starts notes that w starts an operation that was due at a moment, and returns its start lag.
func (g *guardian) starts(w *worker, due, now time.Duration) (lag time.Duration) {
	if g.free > 0 {
		lag = max(now-max(due, g.freeSince), 0)
	} else {
		g.atCap(due, now)
	}
	if w.free {
		w.free = false
		if g.free--; g.free == 0 {
			g.fullSince = now
		}
	}
	return lag
}

// rests notes that w has nothing to do.
func (g *guardian) rests(w *worker, now time.Duration) {
	if w.free {
		return
	}
	w.free = true
	if g.free++; g.free == 1 {
		g.freeSince = now
	}
}

func (g *guardian) atCap(due, now time.Duration) {
	g.capped += max(now-max(due, g.fullSince, g.capUntil), 0)
	g.capUntil = max(g.capUntil, now)
}

// atCapSince returns how long the connections were at the cap since it was last asked.
func (g *guardian) atCapSince(due, now time.Duration) time.Duration {
	if g.free == 0 && due <= now {
		g.atCap(due, now)
	}
	capped := g.capped
	g.capped = 0
	return capped
}
