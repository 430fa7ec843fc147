package load

import (
	"sync"
	"time"
)

// journal is where a worker notes what ended, so that the histograms, which all share, are visited once in 128
// operations. The lock is the worker's own: the others who take it come ten times a second.
type journal struct {
	mu      sync.Mutex
	entries [128]entry
	used    int

	started     time.Duration // when the operation under way started; resting: none is
	interrupted bool          // it has been given up
}

// entry is an operation that ended.
type entry struct {
	operation int32
	fate      fate
	response  time.Duration
	service   time.Duration
	lag       time.Duration
}

type fate int32

const (
	done fate = iota
	late
	skipped
)

const resting = time.Duration(-1)

// begin notes that an operation is under way from a moment on; resting, that none is.
func (j *journal) begin(at time.Duration) {
	j.mu.Lock()
	j.started = at
	j.mu.Unlock()
}

// end notes what ended at a moment, from which on the next is under way. It does not take an operation that was given up.
func (j *journal) end(e entry, at time.Duration) (full, interrupted bool) {
	j.mu.Lock()
	interrupted = j.interrupted
	if !interrupted {
		j.entries[j.used] = e
		j.used++
	}
	j.started, j.interrupted = at, false
	full = j.used == len(j.entries)
	j.mu.Unlock()
	return full, interrupted
}

// drop ends what is under way without an entry, and tells whether it had been given up.
func (j *journal) drop(at time.Duration) (interrupted bool) {
	j.mu.Lock()
	interrupted = j.interrupted
	j.started, j.interrupted = at, false
	j.mu.Unlock()
	return interrupted
}

// giveUp calls interrupt if what is under way started before a moment. It cannot end meanwhile, so that the interrupt does
// not hit its successor.
func (j *journal) giveUp(before time.Duration, interrupt func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.started != resting && j.started < before && !j.interrupted {
		j.interrupted = true
		interrupt()
	}
}
