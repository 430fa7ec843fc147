package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// GuardrailReading is what a guardrail would see if the run began now.
type GuardrailReading struct {
	runbook.Guardrail
	Metrics  map[string]float64 `json:"metrics,omitempty"`  // those that it names and that can be read
	Trouble  string             `json:"trouble,omitempty"`  // why it would hold every act, if it would; it names no metric, or one that nothing shows
	Breached bool               `json:"breached,omitempty"` // as it is now
	absent   bool               // it names a metric that the cluster does not show
}

// Effect is what the guardrail would do to a run that began now; "" if it can be answered.
func (r GuardrailReading) Effect() string {
	switch {
	case r.Trouble == "":
		return ""
	case r.NoData == runbook.GuardStop:
		return r.Trouble + ": this guardrail would end the run before its first step"
	}
	return r.Trouble + ": this guardrail would hold every step"
}

// holds refuses a run that would wait for what is never answered. What could not be read just now may be read when the run has begun: a node that
// hangs may be what it is about.
func (r GuardrailReading) holds() error {
	if r.Trouble == "" || !r.absent {
		return nil
	}
	return hint.With(fmt.Errorf("guardrail %s: %s", r.Name, r.Effect()), "name a metric that the servers show, such as mysql.threads_running (signals.csv of a trial's result lists all), or watch[\"PROMQL\"]; those of a load, such as p99 and throughput, exist only in a trial: a run on a cluster has no load of its own")
}

// Unanswered refuses guardrails that nothing on the cluster can answer; nil if there are none. In a trial they may be answered, by its load.
func (p *Prepared) Unanswered() error {
	var all []error
	var advice string
	for _, r := range p.Guardrails {
		if err := r.holds(); err != nil {
			all, advice = append(all, err), hint.Of(err)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return hint.With(errors.Join(all...), advice)
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
	for ; again > 0 && err == nil && slices.ContainsFunc(b.Guardrails, func(g runbook.Guardrail) bool { return withoutAnswer(b, g, values) != "" }); again-- {
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
		switch r.Trouble = withoutAnswer(b, g, values); {
		case err != nil:
			r.Trouble = err.Error()
		case r.Trouble != "":
			r.absent = !slices.ContainsFunc(runbook.MetricsOf(g.When), isWatched)
			if watched != nil {
				r.Trouble = watched.why(ctx, g.When, values, r.Trouble)
			}
		}
		if r.Trouble == "" {
			r.Breached = breached(b, g, values)
		}
		all = append(all, r)
	}
	return all
}

func isWatched(metric string) bool {
	_, is := runbook.WatchedBy(metric)
	return is
}

// readWithin reads metrics in the time that a run gives them: a node that hangs holds no plan up.
func readWithin(ctx context.Context, m Meter) (map[string]float64, error) {
	limited, cancel := context.WithTimeout(ctx, 2*guardEvery)
	defer cancel()
	return m.Read(limited)
}

// withoutAnswer says why a guardrail cannot be told by some values, "" if it can.
func withoutAnswer(b *runbook.Runbook, g runbook.Guardrail, values map[string]float64) string {
	env := nested(values)
	env["baseline"] = nested(values)
	if _, err := b.Truth(g.When, env); err != nil {
		return cmp.Or(noMetric(g.When, values), err.Error())
	}
	return ""
}

// breached tells whether a guardrail that can be told is breached by some values, which are the baseline too.
func breached(b *runbook.Runbook, g runbook.Guardrail, values map[string]float64) bool {
	env := nested(values)
	env["baseline"] = nested(values)
	is, err := b.Truth(g.When, env)
	return err == nil && is
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
