package store

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
)

// Expand fills a text as Prometheus does in rules: {{ $labels.instance }}, {{ $value | humanize }}, {{ with query "up" }}.
func (s *Store) Expand(ctx context.Context, text string, labels map[string]string, value float64, at time.Time) (string, error) {
	query := func(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
		q, err := s.engine.NewInstantQuery(ctx, s.db, nil, expr, at)
		if err != nil {
			return nil, err
		}
		defer q.Close()
		return q.Exec(ctx).Vector()
	}
	data := template.AlertTemplateData(labels, map[string]string{}, "", promql.Sample{F: value})
	const names = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	out, err := template.NewTemplateExpander(ctx, names+text, "annotation", data, model.TimeFromUnixNano(at.UnixNano()), query, nil, nil).Expand()
	if err != nil {
		return "", fmt.Errorf("fill in %q: %w", text, err)
	}
	return out, nil
}
