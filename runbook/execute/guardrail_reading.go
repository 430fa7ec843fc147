package execute

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/cluster"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// GuardrailReading is what a guardrail would see if the run began now.
type GuardrailReading struct {
	runbook.Guardrail
	Metrics map[string]float64 `json:"metrics,omitempty"` // those that it names and that can be read
	Trouble string             `json:"trouble,omitempty"` // why it would hold every act, if it would; it names no metric, or one that nothing shows
}

// readGuardrails reads what the guardrails look at, so that one which can never be answered is found before anything begins. Rates are known
// from the second reading on.
func (s *Service) readGuardrails(ctx context.Context, b *runbook.Runbook, on *cluster.Cluster) []GuardrailReading {
	meter := s.meter(b, on)
	if meter == nil || len(b.Guardrails) == 0 {
		return nil
	}
	defer closeMeter(meter)
	again := 1
	watched, _ := meter.(*watchMeter)
	if watched != nil {
		again = 3 // it has only begun
	}
	values, err := readWithin(ctx, meter)
	for ; again > 0 && err == nil && slices.ContainsFunc(b.Guardrails, func(g runbook.Guardrail) bool { return noMetric(g.When, values) != "" }); again-- {
		wait := time.NewTimer(guardEvery)
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
		wait.Stop()
		values, err = readWithin(ctx, meter)
	}
	var all []GuardrailReading
	for _, g := range b.Guardrails {
		r := GuardrailReading{Guardrail: g, Metrics: map[string]float64{}}
		for _, name := range runbook.MetricsOf(g.When) {
			if v, known := values[name]; known {
				r.Metrics[name] = v
			}
		}
		switch r.Trouble = noMetric(g.When, values); {
		case err != nil:
			r.Trouble = err.Error()
		case r.Trouble != "" && watched != nil:
			r.Trouble = watched.why(ctx, g.When, values, r.Trouble)
		}
		all = append(all, r)
	}
	return all
}

// readWithin reads metrics in the time that a run gives them: a node that hangs holds no plan up.
func readWithin(ctx context.Context, m Meter) (map[string]float64, error) {
	limited, cancel := context.WithTimeout(ctx, 2*guardEvery)
	defer cancel()
	return m.Read(limited)
}

// noMetric says which metric of an expression is not among the values, "" if all are.
func noMetric(when string, values map[string]float64) string {
	for _, name := range runbook.MetricsOf(when) {
		if _, known := values[name]; known {
			continue
		}
		if expression, is := runbook.WatchedBy(name); is {
			return fmt.Sprintf("watch[%q] has no value", expression)
		}
		text := "there is no metric " + name
		if near := document.Nearest(name, document.SortedKeys(values)); near != "" {
			text += fmt.Sprintf(" (did you mean %s?)", near)
		}
		return text
	}
	return ""
}
