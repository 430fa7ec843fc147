package loader

import (
	"context"
	"fmt"
	"time"
)

// How well clocks must agree: beyond it the loaders' operations do not interleave as the schedule says.
const (
	asks        = 8                     // questions, of which the quickest answer counts
	mostAsks    = 40                    // where none was answered quickly: a machine that is busy is quick at times
	clockError  = 10 * time.Millisecond // half of the round trip of that one
	clockDrift  = 10 * time.Millisecond // beyond the errors of both comparisons, over the load
	answerLimit = 10 * time.Second
)

// compareClocks finds what each loader's clock says when ours says what: by the question that was answered quickest, as
// Cristian's algorithm does (Probabilistic clock synchronization, 1989). The error is at most half of its round trip.
func (w *work) compareClocks(ctx context.Context) error {
	for _, m := range w.members {
		offset, rtt, err := w.ask(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		m.offset, m.rtt = offset, rtt
		if rtt/2 > clockError {
			w.end.Broken = append(w.end.Broken, fmt.Sprintf("the clock of %s is known only to within %v, and %v are needed: its operations may have started at other times than scheduled",
				m.name, (rtt/2).Round(time.Millisecond), clockError))
		}
	}
	return nil
}

// compareAgain says of which loaders the clocks ran apart during the load.
func (w *work) compareAgain() {
	for _, m := range w.members {
		if m.gone || w.merged.strands[m.index].lost != nil {
			continue
		}
		offset, rtt, err := w.ask(context.Background(), m)
		if err != nil {
			w.end.Broken = append(w.end.Broken, fmt.Sprintf("the clock of %s could not be compared after the load: %v", m.name, err))
			continue
		}
		if drift := (offset - m.offset).Abs(); drift > clockDrift+(rtt+m.rtt)/2 {
			w.end.Broken = append(w.end.Broken, fmt.Sprintf("the clocks of this machine and of %s drifted apart by %v during the load",
				m.name, drift.Round(time.Millisecond)))
		}
	}
}

// ask puts the questions to one loader.
func (w *work) ask(ctx context.Context, m *member) (offset, rtt time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, fmt.Errorf("no answer within %v", answerLimit))
	defer cancel()
	rtt = never
	for n := 1; n <= asks || n <= mostAsks && rtt/2 > clockError; n++ {
		sent := w.now()
		m.say(order{Ask: n})
		for answered := false; !answered; {
			select {
			case h := <-w.news:
				switch {
				case h.gone:
					h.from.gone = true
					if h.from == m || w.merged.strands == nil {
						return 0, 0, fmt.Errorf("its process ended: %w", orDone(h.err))
					}
				case h.from == m && h.Clock != nil && h.Clock.Ask == n:
					answered = true
					if took := h.at - sent; took < rtt {
						offset, rtt = h.Clock.Now-(sent+h.at)/2, took
					}
				}
			case <-ctx.Done():
				return 0, 0, context.Cause(ctx)
			}
		}
	}
	return offset, rtt, nil
}
