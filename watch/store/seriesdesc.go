package store

import (
	"fmt"
	"time"

	"plimsoll/watch"
)

// ParseSeries reads a series as promtool's tests write it, up{job="a"} with the values 0 1 2x3 _ 5+1x10, one for each interval from a
// time on.
func (s *Store) ParseSeries(series, values string, from time.Time, every time.Duration) ([]watch.Sample, error) {
	labels, parsed, err := s.parser.ParseSeriesDesc(series + " " + values)
	if err != nil {
		return nil, BadQuery{fmt.Errorf("series %s: %w", series, err)}
	}
	var all []watch.Sample
	name := ""
	var of []watch.Label
	for label, value := range labels.Map() {
		if label == "__name__" {
			name = value
			continue
		}
		of = append(of, watch.Label{Name: label, Value: value})
	}
	for n, v := range parsed {
		if !v.Omitted {
			all = append(all, watch.Sample{Name: name, Labels: of, At: from.Add(time.Duration(n) * every), Value: v.Value})
		}
	}
	return all, nil
}
