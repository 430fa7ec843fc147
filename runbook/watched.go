package runbook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"plimsoll/internal/document"
)

// watchPrefix begins the name of a metric that is a watched series: watch["max(up)"] is watch.max(up).
const watchPrefix = "watch."

// WatchedMetric is the name, among metrics, of what an expression in PromQL comes to over the series of a watch.
func WatchedMetric(expression string) string { return watchPrefix + expression }

// WatchedBy is the expression in PromQL that a metric is; false of another metric.
func WatchedBy(metric string) (expression string, is bool) {
	return strings.CutPrefix(metric, watchPrefix)
}

// Watched lists the expressions in PromQL that the guardrails and the proofs of steps name, each once.
func (b *Runbook) Watched() []string {
	var all []string
	b.eachCondition(func(text string, _ *document.Node) {
		for _, name := range MetricsOf(text) {
			if expression, is := WatchedBy(name); is && !slices.Contains(all, expression) {
				all = append(all, expression)
			}
		}
	})
	return all
}

// CheckWatched has every expression over watched series looked at, and tells all that is wrong with its place. What a watch writes is no metric by its
// bare name.
func (b *Runbook) CheckWatched(check func(expression string) error, writes func(name string) bool) error {
	var ps document.Problems
	b.eachCondition(func(text string, at *document.Node) {
		for _, name := range MetricsOf(text) {
			if expression, is := WatchedBy(name); is {
				ps.Add(at, check(expression))
			} else if writes(name) {
				ps.Add(at, fmt.Errorf("there is no metric %s, but a watch writes a series of that name: watch[%q]", name, name))
			}
		}
	})
	return ps.Err()
}

// eachCondition goes over what may name watched series.
func (b *Runbook) eachCondition(do func(text string, at *document.Node)) {
	for i, g := range b.Guardrails {
		do(g.When, b.at.Get("guardrails").Items[i].Get("when"))
	}
	b.eachVerify(b.Steps, b.at.Get("steps"), do)
}

func (b *Runbook) eachVerify(steps []Step, at *document.Node, do func(text string, at *document.Node)) {
	for i := range steps {
		if v := steps[i].Verify; v != nil {
			do(v.That, at.Items[i].Get("verify").Get("that"))
		}
		b.eachVerify(steps[i].Steps, at.Items[i].Get("steps"), do)
	}
}

// askedOf collects what watch is asked for by something else than a text in quotes.
type askedOf struct{ otherwise bool }

func (v *askedOf) Visit(n *ast.Node) {
	if m, is := (*n).(*ast.MemberNode); is {
		if chain := chainOf(m.Node); chain == "watch" || chain == "baseline.watch" {
			_, text := m.Property.(*ast.StringNode)
			v.otherwise = v.otherwise || !text
		}
	}
}

// lookAtWatch refuses a series whose name is not known before the run.
func lookAtWatch(n *ast.Node, at *document.Node) *document.Problem {
	var v askedOf
	if ast.Walk(n, &v); v.otherwise {
		return at.Errorf("watch[…] takes an expression of PromQL in quotes, such as watch[\"max(plimsoll_replica_lag_seconds)\"]")
	}
	return nil
}
