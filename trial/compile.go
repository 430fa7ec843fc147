package trial

import (
	"maps"
	"slices"

	"plimsoll/analyze"
	"plimsoll/internal/document"
)

// compileExpectations compiles every expectation, with the names that this trial has.
func (t *Trial) compileExpectations(parts Parts) error {
	c := terms{variants: t.Compare.VariantNames(), factors: map[string][]string{}, phases: t.phaseNames(), steps: map[string][]string{}, rounds: t.Phases.Rounds, signals: signalsOf(t.engines(parts)), ofNoNode: generatorSignals(), watched: t.watchable(parts)}
	for _, s := range t.Timeline {
		if s.Call != nil && s.Call.book != nil {
			c.steps[s.Phase] = s.Call.book.StepIDs()
		}
	}
	for _, f := range t.Compare.Factors {
		for _, level := range f.Levels {
			c.factors[f.Name] = append(c.factors[f.Name], level.Text)
		}
	}
	for _, s := range t.Timeline {
		if s.Call != nil {
			c.changes = append(c.changes, s.Phase)
		}
	}
	c.audited = !slices.ContainsFunc(t.cells, func(c *cell) bool { return c.ledger == nil })
	operations := map[string]bool{}
	for _, cell := range t.cells {
		for _, name := range cell.workload.Operations() {
			operations[name] = true
		}
	}
	c.operations = slices.Sorted(maps.Keys(operations))
	var ps document.Problems
	for _, e := range t.Expect {
		all, err := c.compile(e)
		ps.Add(e.At, err)
		t.expectations = append(t.expectations, all...)
	}
	return ps.Err()
}

// phaseNames lists the phases that a cell goes through after its warm-up.
func (t *Trial) phaseNames() []string {
	if len(t.Timeline) == 0 {
		return []string{"measure"}
	}
	var names []string
	for _, s := range t.Timeline {
		if !slices.Contains(names, s.Phase) {
			names = append(names, s.Phase)
		}
	}
	return names
}

// namesSignal tells whether an expectation names a signal.
func (t *Trial) namesSignal(name string) bool {
	return slices.ContainsFunc(t.expectations, func(c comparison) bool {
		return slices.ContainsFunc(c.metrics, func(m Metric) bool { return m.Signal == name })
	})
}

// countsOnly tells whether nothing is expected but what a ledger says of writes. Operations that failed are no such fact: a load
// generator that is short of CPU lets them time out itself, and one that skips them has none that fail.
func (t *Trial) countsOnly() bool {
	return len(t.expectations) > 0 && !slices.ContainsFunc(t.expectations, func(c comparison) bool {
		return slices.ContainsFunc(c.metrics, func(m Metric) bool { return !m.ofLedger() })
	})
}

func (t *Trial) options() analyze.Options {
	return analyze.Options{Confidence: t.Confidence, Seed: t.Seed, Agreement: !t.oneRound}
}
