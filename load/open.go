package load

import "context"

// openLoop performs the operations that the dispatcher hands out until there are no more.
func (w *worker) openLoop(issue, work context.Context) {
	d := w.run.dispatcher
	now := w.run.now()
	for {
		o := d.order(w, now)
		now = o.start
		switch o.do {
		case leave:
			return
		case skip:
			w.skip()
		case refuse:
			w.run.recorder.failed(w.client.Next(), ClassUnavailable, "no connection")
		case serve:
			w.journal.begin(o.start)
			end, connected := w.perform(work, o.due, o.start, o.lag)
			now = end
			if !connected {
				w.journal.begin(resting)
				w.run.lost.Add(1)
				d.lost(w)
				w.run.reopening.Go(func() { w.comeBack(issue) })
			}
		}
	}
}

// comeBack seeks the lost connection while its worker goes on refusing operations.
func (w *worker) comeBack(issue context.Context) {
	if w.reopen(issue, func(error) {}) { // what is refused meanwhile is counted, not the attempts
		w.run.lost.Add(-1)
		w.run.dispatcher.back(w)
	}
}
