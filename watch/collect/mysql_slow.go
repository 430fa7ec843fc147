package collect

import (
	"context"
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
}

var _ watch.Collector = (*slow)(nil)

func (s *slow) Close() error { return s.close() }

// Collect implements watch.Collector.
func (s *slow) Collect(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	level, ask, _ := s.breaker.allowed(now, level)
	due := s.own.due(now)
	if !ask || level < watch.TenSeconds && len(due) == 0 {
		return r, nil
	}
	if err := s.open(ctx); err != nil {
		return r, err
	}
	for _, q := range due {
		failed := 0.0
		if err := s.run(ctx, q, now, &r); lost(err) {
			return r, err
		} else if err != nil {
			failed = 1
		}
		r.Add(now, "plimsoll_own_query_failed", failed, "query", q.Name)
	}
	if level < watch.TenSeconds {
		return r, nil
	}
	statements, err := s.statements(ctx, now, &r)
	if err != nil {
		return r, err
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
