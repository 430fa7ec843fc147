package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/advise"

	"plimsoll/engine"
)

// stallWatch asks the server for the counters of its cache before and while a list is made, for which it takes the same lock as
// for a list.
type stallWatch struct {
	ask    func(context.Context) error
	took   []time.Duration
	stalls []time.Duration
}

func newStallWatch(db engine.PageCaching) *stallWatch {
	return &stallWatch{ask: func(ctx context.Context) error { _, err := db.PageCache(ctx); return err }}
}

// during has a list made and measures.
func (w *stallWatch) during(ctx context.Context, list func() error) error {
	usual, err := w.slowest(ctx, func(n int) bool { return n >= 5 })
	if err != nil {
		return err
	}
	done := make(chan struct{})
	var slow time.Duration
	var watched error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		slow, watched = w.slowest(ctx, func(int) bool {
			select {
			case <-done:
				return true
			default:
				return false
			}
		})
	}()
	began := time.Now()
	err = list()
	w.took = append(w.took, time.Since(began))
	close(done)
	<-ended
	if err != nil {
		return err
	}
	w.stalls = append(w.stalls, max(slow-usual, 0))
	return watched
}

// slowest asks until it is enough, with a rest between, and returns the longest answer.
func (w *stallWatch) slowest(ctx context.Context, enough func(asked int) bool) (longest time.Duration, err error) {
	for n := 1; ; n++ {
		began := time.Now()
		if err := w.ask(ctx); err != nil {
			return 0, fmt.Errorf("watch the cost: %w", err)
		}
		longest = max(longest, time.Since(began))
		if enough(n) {
			return longest, nil
		}
		rest := time.NewTimer(2 * time.Millisecond)
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
			return 0, context.Cause(ctx)
		}
	}
}

func (w *stallWatch) lastTook() time.Duration { return w.took[len(w.took)-1] }

// tooMuch is an error when the last lists held up the server for longer than they may: the first one, or two in a row.
func (w *stallWatch) tooMuch(most time.Duration) error {
	last := w.stalls[max(len(w.stalls)-2, 0):]
	if len(last) == 0 || slices.Min(last) <= most {
		return nil
	}
	return &Unable{
		Reason: fmt.Sprintf("a list of its pages stalled the server for %s, longer than %s: sampling has stopped", roundedUp(slices.Min(last)), most),
		Advice: fmt.Sprintf("observe a replica, with --node NODE, or allow more, with --max-stall %s", (2 * slices.Min(last)).Round(time.Millisecond)),
	}
}

// roundedUp is a time to a tenth of a millisecond, never less than it was: it is compared with a limit.
func roundedUp(d time.Duration) time.Duration {
	const to = 100 * time.Microsecond
	return (d + to - 1).Truncate(to)
}

func (w *stallWatch) cost(by string, all time.Duration) advise.Cost {
	c := advise.Cost{By: by, Lists: len(w.took)}
	for _, d := range w.took {
		c.Took += d
		c.Longest = max(c.Longest, d)
	}
	c.Share = float64(c.Took) / float64(all)
	stalls := slices.Sorted(slices.Values(w.stalls))
	if len(stalls) > 0 {
		c.Stall, c.MaxStall = stalls[len(stalls)/2], stalls[len(stalls)-1]
	}
	return c
}
