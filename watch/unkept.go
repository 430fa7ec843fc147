package watch

import "time"

// unkept is what of one visitor's samples could not be kept, as when the disk is full.
type unkept struct {
	since time.Time // when that began; zero: everything is kept
	level Level     // the rarest that was not kept
	why   string
	again bool // something was kept since, so that this level is read again
}

// due is the level that has to be read again.
func (u unkept) due() Level {
	if !u.again {
		return Second
	}
	return u.level
}

// turn books what became of the samples of a visit.
func (u *unkept) turn(now time.Time, level Level, err error) {
	switch {
	case err != nil:
		if u.since.IsZero() {
			u.since = now
		}
		u.level, u.why, u.again = max(u.level, level), err.Error(), false
	case u.since.IsZero():
	case level >= u.level:
		*u = unkept{}
	default:
		u.again = true
	}
}

// kept books what became of the samples of a visit, and says so when it begins and when it is over, not at each visit.
func (w *visitor) kept(now time.Time, level Level, err error) {
	before := w.unkept.since
	w.mu.Lock()
	w.unkept.turn(now, level, err)
	if w.unkept.since.IsZero() {
		delete(w.losing, w)
	} else {
		w.losing[w] = w.unkept
	}
	w.mu.Unlock()
	switch {
	case before.IsZero() && err != nil:
		w.cfg.Log.Error("keep samples", "instance", w.of.Name, "error", err)
	case !before.IsZero() && w.unkept.since.IsZero():
		w.cfg.Log.Info("samples are kept again", "instance", w.of.Name, "lost_for", now.Sub(before))
	}
}

// Unkept tells since when samples could not be kept, and why; a zero time if all are.
func (w *Watcher) Unkept() (since time.Time, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.losing {
		if since.IsZero() || u.since.Before(since) {
			since, why = u.since, u.why
		}
	}
	return since, why
}

// loses tells whether samples of an instance could not be kept; of any, without a name. The caller holds mu.
func (w *Watcher) loses(name string) bool {
	for v := range w.losing {
		if name == "" || v.of.Name == name {
			return true
		}
	}
	return false
}
