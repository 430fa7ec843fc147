package collect

import (
	"context"
	"slices"
	"time"

	"plimsoll/watch"
)

// slow reads what takes longer, on a connection of its own so that it holds up nothing.
type slow struct {
	*server
	*link
	digests          digests
	own              own
	settings, schema follower
	sizes            sizes
}

var (
	_ watch.Collector  = (*slow)(nil)
	_ watch.ExtraTimer = (*slow)(nil)
)

func (s *slow) Close() error { return s.close() }

// ExtraTime implements watch.ExtraTimer: all own SQL may be due at once.
func (s *slow) ExtraTime() (sum time.Duration) {
	for _, q := range s.own.queries {
		sum += q.timeout()
	}
	return sum
}

// findingsNow are what people should know of what is read here.
func (s *slow) findingsNow() []watch.Finding {
	return slices.Concat(s.digests.finding(), s.own.findings())
}

// Collect implements watch.Collector.
func (s *slow) Collect(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	if _, ask, why := s.breaker.allowed(now, level); !ask || why != "" { // of one in distress nothing is read here, and own SQL waits too
		r.Missed = level
		return r, nil
	}
	due := s.own.due(now)
	if level < watch.TenSeconds && len(due) == 0 {
		return r, nil
	}
	s.askAgain(s.link, level)
	if err := s.open(ctx); err != nil {
		return r, err
	}
	for n, q := range due {
		err := s.run(ctx, q, now, &r)
		r.Add(now, "plimsoll_own_query_failed", oneIf(err != nil), "query", q.Name)
		if lost(err) { // which does not say that its SQL is wrong
			s.own.again(due[n+1:])
			return r, err
		}
		s.own.ended(q, err)
	}
	if len(due) > 0 {
		s.found(s.findingsNow())
	}
	if level < watch.TenSeconds {
		return r, nil
	}
	var statements []watch.Statement
	var err error
	if level >= watch.Minute || !s.digests.dear() {
		if statements, err = s.statements(ctx, now, &r); err != nil {
			return r, err
		}
	}
	var size *float64
	if level >= watch.Minute {
		if err := s.settingsChanged(ctx, now, &r); err != nil {
			return r, err
		}
	}
	if level >= watch.TenMinutes {
		if size, err = s.schemaChanged(ctx, now, &r); err != nil {
			return r, err
		}
		if err = s.sizesChanged(ctx, now, &r); err != nil {
			return r, err
		}
	}
	r.Show = func(i *watch.Instance) {
		if statements != nil {
			i.Statements = statements
		}
		if size != nil {
			disk := watch.Disk{}
			if i.Disk != nil {
				disk = *i.Disk
			}
			disk.Data = size
			i.Disk = &disk
		}
	}
	return r, nil
}
