package load

// line is workers waiting, first come first served.
type line struct {
	ring  []*worker // as long as there are workers
	first int
	count int
}

func newLine(workers int) line { return line{ring: make([]*worker, workers)} }

func (l *line) push(w *worker) {
	l.ring[(l.first+l.count)%len(l.ring)] = w
	l.count++
	w.line = l
}

// pop returns nil when nobody waits.
func (l *line) pop() *worker {
	if l.count == 0 {
		return nil
	}
	w := l.ring[l.first]
	l.first = (l.first + 1) % len(l.ring)
	l.count--
	w.line = nil
	return w
}

// remove takes one out of the middle.
func (l *line) remove(w *worker) {
	for range l.count {
		if other := l.pop(); other != w {
			l.push(other)
		}
	}
}
