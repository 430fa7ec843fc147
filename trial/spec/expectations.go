package spec

import (
	"maps"
	"slices"

	"plimsoll/analyze"
	"plimsoll/internal/document"
	"plimsoll/trial/expect"
)

// compileExpectations compiles every expectation, with the names that this trial has.
func (t *Trial) compileExpectations(parts Parts) error {
	c := expect.Vocabulary{Variants: t.Compare.VariantNames(), Factors: map[string][]string{}, Phases: t.phaseNames(), Steps: map[string][]string{}, Rounds: t.Phases.Rounds, Signals: signalsOf(t.engines(parts)), OfNoNode: generatorSignals(), Watched: t.watchable(parts)}
	for _, s := range t.Timeline {
		if s.Call != nil && s.Call.Book != nil {
			c.Steps[s.Phase] = s.Call.Book.StepIDs()
		}
	}
	for _, f := range t.Compare.Factors {
		for _, level := range f.Levels {
			c.Factors[f.Name] = append(c.Factors[f.Name], level.Text)
		}
	}
	for _, s := range t.Timeline {
		if s.Call != nil {
			c.Changes = append(c.Changes, s.Phase)
		}
	}
	c.Changeless = len(c.Changes) == 0
	nodes := t.nodesAt(parts)
	c.Nodes = nodes[len(nodes)-1]
	c.Audited = !slices.ContainsFunc(t.Cells, func(c *Cell) bool { return c.Ledger == nil })
	operations := map[string]bool{}
	for _, cell := range t.Cells {
		for _, name := range cell.Workload.Operations() {
			operations[name] = true
		}
	}
	c.Operations = slices.Sorted(maps.Keys(operations))
	var ps document.Problems
	for _, e := range t.Expect {
		all, err := c.Compile(e)
		ps.Add(e.At, err)
		t.Expectations = append(t.Expectations, all...)
	}
	ps.Add(t.Document, checkGuardrails(t, t.engines(parts)))
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

// NamesSignal tells whether an expectation names a signal.
func (t *Trial) NamesSignal(name string) bool {
	return slices.ContainsFunc(t.Expectations, func(c expect.Comparison) bool {
		return slices.ContainsFunc(c.Metrics, func(m expect.Metric) bool { return m.Signal == name })
	})
}

// CountsOnly tells whether nothing is expected but what a ledger says of writes. Operations that failed are no such fact: a load
// generator that is short of CPU lets them time out itself, and one that skips them has none that fail.
func (t *Trial) CountsOnly() bool {
	return len(t.Expectations) > 0 && !slices.ContainsFunc(t.Expectations, func(c expect.Comparison) bool {
		return slices.ContainsFunc(c.Metrics, func(m expect.Metric) bool { return !m.OfLedger() })
	})
}

func (t *Trial) Options() analyze.Options {
	return analyze.Options{Confidence: t.Confidence, Seed: t.Seed, Agreement: !t.OneRound}
}
