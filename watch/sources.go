package watch

import "slices"

// Follow makes these the sources that are read: an instance that is new is read from now on, one that is gone is read no more and leaves
// the picture, and of one that was read before nothing changes but how it is logged in to, unless it is at another address now: that is another
// server. It may be called before Run and while it runs.
func (w *Watcher) Follow(sources []Source) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := make([]Source, 0, len(sources))
	for _, s := range sources {
		at := slices.IndexFunc(w.sources, func(old Source) bool { return old.place() == s.place() })
		if at >= 0 {
			if known := w.sources[at].Login; known != nil && s.Login != nil {
				known.Renew(s.Login)
			}
			next = append(next, w.sources[at]) // its collectors know what was before
			continue
		}
		i := s.Instance
		i.State = Unread
		w.instances[i.Name] = &i
		next = append(next, s)
	}
	for name := range w.instances {
		if !slices.ContainsFunc(next, func(s Source) bool { return s.Instance.Name == name }) {
			delete(w.instances, name)
			delete(w.stored, name)
		}
	}
	w.sources, w.fresh = next, true
	select {
	case w.others <- struct{}{}:
	default:
	}
}

// place tells a source from others: by its name and where it is.
func (s Source) place() string { return s.Instance.Name + "\x00" + s.Instance.Address }

// Follows tells whether an instance is among the sources.
func (w *Watcher) Follows(instance string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.instances[instance] != nil
}
