package store

import (
	"context"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

// shared is a querier of all times that several questions use, each for a time of its own; the last of them does not close it.
type shared struct {
	storage.Querier
	from, to int64
}

// Select implements storage.Querier.
func (s *shared) Select(ctx context.Context, sorted bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	if hints == nil {
		hints = &storage.SelectHints{Start: s.from, End: s.to}
	}
	return s.Querier.Select(ctx, sorted, hints, matchers...)
}

// Close implements storage.Querier.
func (*shared) Close() error { return nil }
