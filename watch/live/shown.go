package live

import (
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/store"
)

// shown knows when each series came last, so that one which is not shown any more ends at once. PromQL alone would go on with its last
// value for five minutes, and a guardrail would trust it.
type shown struct {
	mu sync.Mutex
	by map[string]map[string]*moment // by instance and series
}

// moment is when a series came last, and how long after it had come before; 0: it came once.
type moment struct {
	last  time.Time
	every time.Duration
	as    watch.Sample
}

// patience is how long a series may be late at least.
const patience = 4 * time.Second

// take books samples of one visit and returns what ends the series that are late by then. When an instance does not answer, all of
// its series are.
func (s *shown) take(now time.Time, samples []watch.Sample) (ended []watch.Sample) {
	if len(samples) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	instance := labelOf(samples[0], "instance")
	all := s.by[instance]
	if all == nil {
		all = map[string]*moment{}
		s.by[instance] = all
	}
	down := false
	for _, one := range samples {
		key := keyOf(one)
		switch m := all[key]; {
		case m == nil:
			all[key] = &moment{last: now, as: one}
		case now.After(m.last): // several of one visit are one
			m.last, m.every = now, now.Sub(m.last)
		}
		down = down || one.Name == "up" && one.Value == 0
	}
	for key, m := range all {
		if late := m.every > 0 && now.Sub(m.last) > max(patience, 5*m.every/2); late || down && m.as.Name != "up" {
			m.as.At, m.as.Value = now, store.Ended()
			ended = append(ended, m.as)
			delete(all, key)
		}
	}
	return ended
}

// leave returns what ends the series of the instances that are not among these: they are read no more.
func (s *shown) leave(now time.Time, sources []watch.Source) (ended []watch.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, all := range s.by {
		if slices.ContainsFunc(sources, func(of watch.Source) bool { return of.Instance.Name == name }) {
			continue
		}
		for _, m := range all {
			m.as.At, m.as.Value = now, store.Ended()
			ended = append(ended, m.as)
		}
		delete(s.by, name)
	}
	return ended
}

func labelOf(s watch.Sample, name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

func keyOf(s watch.Sample) string {
	var b strings.Builder
	b.WriteString(s.Name)
	for _, l := range s.Labels {
		b.WriteString("\xff" + l.Name + "\xfe" + l.Value)
	}
	return b.String()
}
