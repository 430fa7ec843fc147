package probe

import (
	"context"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/series"
)

// Status reads the counters and gauges that a database shows, and its pending work.
type Status struct {
	node  string
	db    engine.Database
	rates rates
}

var _ Probe = (*Status)(nil)

// NewStatus returns a probe of a node's database. One that shows nothing gives no points.
func NewStatus(node string, db engine.Database) *Status { return &Status{node: node, db: db} }

// Read asks the database once.
func (s *Status) Read(ctx context.Context, now time.Time) ([]series.Point, error) {
	var points []series.Point
	if m, ok := engine.As[engine.Metered](s.db); ok {
		readings, err := m.Readings(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the status of %s: %w", s.node, err)
		}
		passed := s.rates.begin(now)
		for _, r := range readings {
			value, ok := r.Value, true
			switch {
			case r.Of > 0:
				value, ok = s.rates.share(r.Signal, r.Value, r.Of, passed)
			case r.Counter:
				value, ok = s.rates.rate(r.Signal, r.Value, passed)
			}
			if ok {
				points = append(points, series.Point{Time: now, Signal: r.Signal, Node: s.node, Value: value})
			}
		}
	}
	return points, nil
}
