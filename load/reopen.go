package load

import (
	"context"
	"math/rand/v2"
	"time"

	"plimsoll/internal/poll"
)

// How a lost connection is sought again: at once, then after pauses that keep the workers apart, so that it is open
// again a fraction of a second after the server is back, whether meanwhile it refused, hung or lost every packet.
const (
	pauseAtLeast   = 100 * time.Millisecond
	pauseAtMost    = 250 * time.Millisecond
	attemptAtMost  = time.Second
	attemptsAtOnce = 32 // a server that comes back is not to be drowned in handshakes
)

// reopen tries until the connection is back, which it reports, or ctx ends. Each failed attempt is told.
func (w *worker) reopen(ctx context.Context, failed func(error)) bool {
	pause := !w.proven // a server that lets us in only to drop us is not asked more often than one that refuses
	w.proven = false
	for {
		if pause && poll.Rest(ctx, pauseAtLeast+rand.N(pauseAtMost-pauseAtLeast)) != nil {
			return false
		}
		pause = true
		select {
		case w.run.attempts <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		attempt, cancel := context.WithTimeout(ctx, attemptAtMost)
		err := w.client.Reconnect(attempt)
		cancel()
		<-w.run.attempts
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		failed(err)
	}
}
