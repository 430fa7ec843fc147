package spec

import (
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// checkGuardrails refuses metrics of the runbooks' guardrails that are named as the engine's are and that no server of it shows: such a
// guardrail would hold every step of its run, under load.
func checkGuardrails(t *Trial, signals []string) error {
	var ps document.Problems
	for _, s := range t.Timeline {
		if s.Call == nil || s.Call.Book == nil {
			continue
		}
		for _, g := range s.Call.Book.Guardrails {
			for _, name := range runbook.MetricsOf(g.When) {
				ps.Add(s.Call.At, unknownMetric(s.Call, g.Name, name, signals))
			}
		}
	}
	return ps.Err()
}

// unknownMetric is nil of a metric that is shown, and of one whose family is not the engine's: what it is can be told only where it is run.
func unknownMetric(call *Call, guardrail, name string, signals []string) error {
	family, _, grouped := strings.Cut(name, ".")
	own := func(known string) bool { return strings.HasPrefix(known, family+".") }
	shown := func(known string) bool { return engine.NamesSignal(known, name) }
	if !grouped || !slices.ContainsFunc(signals, own) || slices.ContainsFunc(signals, shown) {
		return nil
	}
	p := call.At.Errorf("%s: guardrail %s: there is no metric %s", call.Name(), guardrail, name)
	if near := document.Nearest(name, signals); near != "" {
		return p.WithHint("did you mean %q?", near)
	}
	return p.WithHint("docs/trial-reference.md lists the signals")
}
