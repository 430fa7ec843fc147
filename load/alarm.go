package load

import "time"

// Alarm wakes the one worker that waits on it. Set and Ring may be called by others.
type Alarm interface {
	// Set makes Wait return once this much time has passed; a later Set replaces it.
	Set(after time.Duration)
	// Ring makes Wait return at once.
	Ring()
	// Wait returns after Set's time or a Ring, now and then for no reason.
	Wait()
	Close() error
}

// NewTimer returns an alarm made of the runtime's timers, which are up to a millisecond late on an idle machine.
func NewTimer() (Alarm, error) {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return timer{t}, nil
}

type timer struct{ *time.Timer }

func (t timer) Set(after time.Duration) { t.Reset(max(after, 0)) }
func (t timer) Ring()                   { t.Reset(0) }
func (t timer) Wait()                   { <-t.C }
func (t timer) Close() error            { t.Stop(); return nil }
