package execute

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"plimsoll/cluster"
	"plimsoll/runbook"
)

// Watched evaluates expressions in PromQL over the series that a watch of one cluster would write.
type Watched interface {
	// Largest returns what the expressions come to now, of several values the largest. Those that nothing shows are left out.
	Largest(ctx context.Context, expressions []string) (map[string]float64, error)
	// Why says why an expression comes to nothing.
	Why(ctx context.Context, expression string) string
	Close() error
}

// watchMeter reads watched series beside the metrics of another meter. The watch begins with the first reading.
type watchMeter struct {
	Meter   // nil: there are no other metrics
	cluster *cluster.Cluster
	names   []string
	open    func(context.Context, *cluster.Cluster) (Watched, error)
	watch   Watched // nil: not opened yet
}

// meter reads what the guardrails and proofs of a runbook name; nil if nothing does. It is to be closed.
func (s *Service) meter(b *runbook.Runbook, on *cluster.Cluster) Meter {
	var nodes Meter
	if s.Meter != nil {
		nodes = s.Meter(on)
	}
	names := b.Watched()
	if len(names) == 0 || s.Watch == nil {
		return nodes
	}
	return &watchMeter{Meter: nodes, cluster: on, names: names, open: s.Watch}
}

// Read implements Meter. What one of the two cannot read is left out while the other can.
func (m *watchMeter) Read(ctx context.Context) (map[string]float64, error) {
	values, err := map[string]float64{}, error(nil)
	if m.Meter != nil {
		var others map[string]float64
		others, err = m.Meter.Read(ctx)
		maps.Copy(values, others)
	}
	watched, watchErr := m.read(ctx)
	for expression, v := range watched {
		values[runbook.WatchedMetric(expression)] = v
	}
	if len(values) == 0 {
		return nil, errors.Join(err, watchErr)
	}
	return values, nil
}

func (m *watchMeter) read(ctx context.Context) (map[string]float64, error) {
	if m.watch == nil {
		w, err := m.open(ctx, m.cluster)
		if err != nil {
			return nil, fmt.Errorf("watch the cluster: %w", err)
		}
		m.watch = w
	}
	return m.watch.Largest(ctx, m.names)
}

// why says more of a metric that is missing, where it is a watched one.
func (m *watchMeter) why(ctx context.Context, when string, values map[string]float64, otherwise string) string {
	for _, name := range runbook.MetricsOf(when) {
		_, known := values[name]
		if expression, is := runbook.WatchedBy(name); is && !known && m.watch != nil {
			return m.watch.Why(ctx, expression)
		}
	}
	return otherwise
}

// Baseline implements Baselined.
func (m *watchMeter) Baseline() map[string]float64 {
	if known, ok := m.Meter.(Baselined); ok {
		return known.Baseline()
	}
	return nil
}

// Close ends the watch.
func (m *watchMeter) Close() error {
	if m.watch == nil {
		return nil
	}
	return m.watch.Close()
}

// closeMeter ends what a meter has opened, if it has.
func closeMeter(m Meter) {
	if opened, ok := m.(interface{ Close() error }); ok {
		_ = opened.Close() // it only read
	}
}

// provedMetrics are the watched series that proofs of steps hold against what they were before the change.
func provedMetrics(b *runbook.Runbook) (names []string) {
	runbook.EachStep(b.Steps, func(s *runbook.Step) {
		if s.Verify != nil && runbook.NamesBaseline(s.Verify.That) {
			for _, name := range runbook.MetricsOf(s.Verify.That) {
				if _, is := runbook.WatchedBy(name); is {
					names = append(names, name)
				}
			}
		}
	})
	return names
}

// proof adds to what a step's proof may name the watched series as they are now, and as they were before the first act.
func (g *guard) proof(that string, env map[string]any, now time.Time) error {
	values := g.reading(now)
	g.mu.Lock()
	before := maps.Clone(g.baseline)
	g.mu.Unlock()
	env["watch"], env["baseline"] = nested(values)["watch"], nested(before)
	for _, name := range runbook.MetricsOf(that) {
		expression, is := runbook.WatchedBy(name)
		if _, known := values[name]; is && !known {
			return fmt.Errorf("watch[%q] has no value", expression)
		}
		if _, known := before[name]; is && !known && runbook.NamesBaseline(that) {
			return fmt.Errorf("watch[%q] had no value before the first act", expression)
		}
	}
	return nil
}
