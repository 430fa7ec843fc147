package watch

import (
	"context"
	"errors"
	"time"
)

// most is how long one visit may take at each level before it is given up.
var most = []time.Duration{Second: 3 * time.Second, TenSeconds: 5 * time.Second, Minute: 10 * time.Second, TenMinutes: 30 * time.Second}

// visitor has one collector of an instance read. The first of a source leads: it tells whether the instance is up.
type visitor struct {
	*Watcher
	of     Instance
	reads  Collector
	leads  bool
	derive func(time.Time, *Instance) []Sample
	missed missed
	unkept unkept
	silent bool // its last visit ended in an error
}

// follow reads until ctx ends, the first time after a while. A visit that takes longer than its interval leaves a gap: no values are made
// up for it, and the rarest level that came due in it is read at the next.
func (w *visitor) follow(ctx context.Context, later time.Duration) {
	defer func() {
		if err := w.reads.Close(); err != nil {
			w.cfg.Log.Debug("close collector", "instance", w.of.Name, "error", err)
		}
		w.mu.Lock()
		delete(w.losing, w)
		w.mu.Unlock()
	}()
	begin := time.NewTimer(later)
	defer begin.Stop()
	select {
	case <-ctx.Done():
		return
	case <-begin.C:
	}
	tick := time.NewTicker(w.cfg.Every)
	defer tick.Stop()
	begun := time.Now()
	for before := -1; ctx.Err() == nil; {
		n := int(time.Since(begun).Round(w.cfg.Every) / w.cfg.Every)
		w.visit(ctx, levelAt(before, n))
		before = n
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (w *visitor) visit(ctx context.Context, level Level) {
	now := w.cfg.Now()
	gone := w.gone()
	level = max(level, w.missed.due(now, gone), w.unkept.due())
	limit := most[level]
	if longer, is := w.reads.(ExtraTimer); is {
		limit += longer.ExtraTime()
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reading, err := w.reads.Collect(limited, level, now)
	if ctx.Err() != nil {
		return
	}
	w.missed.turn(now, level, reading, err, gone)
	if begins := err != nil && !w.silent; begins && w.leads && w.cfg.Gone != nil {
		w.cfg.Gone(ctx, w.of.Name, now)
	}
	w.silent = err != nil
	samples := append(reading.Samples, w.book(now, reading, err)...)
	if w.leads && (err != nil || reading.Asked != Nothing) {
		samples = append(samples, Sample{Name: "up", At: now, Value: map[bool]float64{err == nil: 1}[true]},
			Sample{Name: "plimsoll_login_refused", At: now, Value: map[bool]float64{errors.Is(err, ErrRefused): 1}[true]})
	}
	for i := range samples {
		samples[i].Labels = append(samples[i].Labels, Label{"cluster", w.of.Cluster}, Label{"instance", w.of.Name}, Label{"job", w.of.Engine})
	}
	var lost error
	if w.cfg.Keep != nil {
		lost = w.cfg.Keep(ctx, samples)
		w.kept(now, level, lost)
	}
	if w.leads && err == nil && lost == nil && reading.Asked == Everything {
		w.mu.Lock()
		w.stored[w.of.Name] = w.cfg.Now()
		w.mu.Unlock()
	}
	if w.cfg.Documents != nil {
		for _, d := range reading.Documents {
			d.Fields["instance"], d.Fields["cluster"] = w.of.Name, w.of.Cluster
			w.cfg.Documents(d)
		}
	}
	if w.cfg.Changes != nil {
		for _, change := range reading.Changes {
			change.Instance = w.of.Name
			if change.OfCluster {
				if change.Instance = w.of.Cluster; w.once.again(change) {
					continue
				}
			}
			w.cfg.Changes(change)
		}
	}
}

// book puts what a visit showed into the picture, and returns what follows from it.
func (w *visitor) book(now time.Time, r Reading, err error) []Sample {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.instances[w.of.Name]
	if i == nil {
		return nil // it is followed no more
	}
	w.fresh = true
	if err != nil && !w.leads {
		w.cfg.Log.Debug("a collector got no answer", "instance", i.Name, "error", err)
	}
	if err != nil && w.leads {
		state, said := Down, "instance does not answer"
		if errors.Is(err, ErrRefused) {
			state, said = Refused, "instance refuses the account"
		}
		if i.State != state {
			w.cfg.Log.Warn(said, "instance", i.Name, "error", err)
		}
		*i = i.identity()
		i.State, i.Why = state, err.Error()
		return nil
	}
	if w.leads && r.Asked != Nothing {
		if i.State == Down || i.State == Refused || i.State == Unread {
			w.cfg.Log.Info("instance answers", "instance", i.Name)
		}
		i.State, i.Why = Up, ""
	}
	if w.leads && r.Asked == Everything {
		i.Read = now
	}
	if r.Show != nil {
		r.Show(i)
	}
	if !w.leads || w.derive == nil || err != nil || r.Asked != Everything {
		return nil
	}
	return w.derive(now, i)
}

// gone says that the instance is down or refuses the account, as far as is known before a visit: what it misses says nothing of how long it takes. The collector that
// leads knows it by an error at the level of each second; the others by what that has shown.
func (w *visitor) gone() bool {
	if w.leads {
		return w.missed.gone
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.instances[w.of.Name]
	return i != nil && (i.State == Down || i.State == Refused)
}

// missed is the rarest level that a collector was due to read and did not.
type missed struct {
	level Level
	again time.Time // it is due from then on
	gone  bool      // no visit has succeeded since an error at the level of each second
}

// retry is how long a level is left alone whose reading ended in an error: what a server takes too long for is not asked every second.
const retry = time.Minute

func (m *missed) due(now time.Time, gone bool) Level {
	if gone || now.Before(m.again) {
		return Second
	}
	return m.level
}

// turn books a visit. What was missed of an instance that was gone is read as soon as it answers.
func (m *missed) turn(now time.Time, level Level, r Reading, err error, gone bool) {
	if err != nil {
		m.level, m.gone = max(m.level, level), m.gone || level == Second
		if level > Second && !gone {
			m.again = now.Add(retry)
		}
		return
	}
	if m.gone {
		m.gone, m.again = false, time.Time{}
	}
	switch {
	case r.Missed > Second:
		m.level = max(m.level, r.Missed)
	case level >= m.level:
		m.level = Second
	}
}

// identity is what stays known of an instance that does not answer: what it showed before must not look like now.
func (i *Instance) identity() Instance {
	return Instance{
		Name: i.Name, Cluster: i.Cluster, Node: i.Node, Address: i.Address, Environment: i.Environment,
		Engine: i.Engine, Product: i.Product, Version: i.Version, Role: i.Role, Cores: i.Cores, Read: i.Read, State: i.State,
	}
}
