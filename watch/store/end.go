package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"plimsoll/watch"
)

// End ends all series of an instance at a time, for an instance that is watched no more: otherwise its last values, such as up == 0, would
// be seen by rules for another five minutes. It returns the samples that end them, for other stores.
func (s *Store) End(ctx context.Context, instance string, at time.Time) ([]watch.Sample, error) {
	return s.end(ctx, instance, at)
}

// staying are series of an instance that say what they say although it does not answer: that it does not, what it is, and how it is set.
const staying = "up|mysql_up|mysql_version_info|mysql_global_variables_.*|plimsoll_login_refused|plimsoll_rds|plimsoll_aurora|plimsoll_cores|ALERTS"

// EndReadings ends the series of an instance that does not answer, as Prometheus does of a target that does not: what it showed last is no reading
// of the five minutes after it. It returns the samples that end them, for other stores.
func (s *Store) EndReadings(ctx context.Context, instance string, at time.Time) ([]watch.Sample, error) {
	return s.end(ctx, instance, at, labels.MustNewMatcher(labels.MatchNotRegexp, model.MetricNameLabel, staying))
}

// end ends those series of an instance that match.
func (s *Store) end(ctx context.Context, instance string, at time.Time, which ...*labels.Matcher) (ended []watch.Sample, err error) {
	from, to := at.Add(-lookBack).UnixMilli(), at.UnixMilli()
	q, err := s.db.Querier(from, to)
	if err != nil {
		return nil, fmt.Errorf("open series to end those of %s: %w", instance, err)
	}
	defer func() { _ = q.Close() }() // it was only read
	a := s.db.Appender(ctx)
	set := q.Select(ctx, false, &storage.SelectHints{Func: "series", Start: from, End: to}, append(which, labels.MustNewMatcher(labels.MatchEqual, "instance", instance))...)
	for set.Next() {
		of := set.At().Labels().Copy()
		_, err := a.Append(0, of, to, Ended())
		if err != nil && !errors.Is(err, storage.ErrDuplicateSampleForTimestamp) {
			return nil, errors.Join(fmt.Errorf("end the series of %s: %w", instance, err), a.Rollback())
		}
		ended = append(ended, sampleOf(of, at, Ended()))
	}
	if err := set.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("find the series of %s: %w", instance, err), a.Rollback())
	}
	if err := a.Commit(); err != nil {
		return nil, fmt.Errorf("end the series of %s: %w", instance, err)
	}
	return ended, nil
}

// sampleOf is a value of the series with these labels.
func sampleOf(of labels.Labels, at time.Time, v float64) watch.Sample {
	sample := watch.Sample{Name: of.Get(model.MetricNameLabel), At: at, Value: v}
	of.Range(func(l labels.Label) {
		if l.Name != model.MetricNameLabel {
			sample.Labels = append(sample.Labels, watch.Label{Name: l.Name, Value: l.Value})
		}
	})
	return sample
}
