package load

import "context"

// closedLoop performs one operation after another until the run stops. What follows an operation at once starts when that
// ended, so that all of the worker's time is some operation's service time.
//
// While the connection is down, each failed attempt to re-open it counts as an operation that ended as an error: the
// outage shows in the errors, at a rate that the pauses between attempts bound.
func (w *worker) closedLoop(issue, work context.Context) {
	start := w.run.now()
	w.journal.begin(start)
	for start < w.run.stopAt() {
		end, connected := w.perform(work, start, start, 0)
		start = end
		if !connected {
			w.journal.begin(resting)
			w.run.lost.Add(1)
			back := w.reopen(issue, func(err error) {
				w.run.recorder.failed(w.client.Next(), classOf(err, ClassUnavailable), err.Error())
			})
			if !back {
				return
			}
			w.run.lost.Add(-1)
			start = w.run.now()
			w.journal.begin(start)
		}
	}
	w.journal.begin(resting)
}
