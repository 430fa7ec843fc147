package spec

import (
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// checkGuardrails refuses metrics of the runbooks' guardrails that no server of the cells' engines shows: such a guardrail would hold every step
// of its run, under load. Where an engine cannot say what it shows, nothing is refused.
func checkGuardrails(t *Trial, engines []engine.Engine) error {
	var signals []string
	for _, e := range engines {
		shows, knows := e.(engine.Instrumented)
		if !knows {
			return nil
		}
		signals = append(signals, shows.Signals()...)
	}
	var ps document.Problems
	for _, c := range t.Cells {
		for _, call := range c.Calls() {
			if call.Book == nil {
				continue
			}
			for _, g := range call.Book.Guardrails {
				for _, name := range g.Metrics() {
					ps.Add(call.At, runbook.NoMetric(call.At, call.Name()+": guardrail "+g.Name, name, signals, g.Named()))
				}
			}
		}
	}
	return ps.Err()
}
