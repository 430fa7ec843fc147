package runbook

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Metrics are those that its condition names.
func (g *Guardrail) Metrics() []string { return MetricsOf(g.When) }

// MetricsOf lists the metrics that an expression names, whether as they are or in the baseline; a watched series as watch.EXPRESSION.
func MetricsOf(when string) []string {
	tree, err := parser.Parse(when)
	if err != nil {
		return nil // it was compiled: that does not happen
	}
	var v chains
	ast.Walk(&tree.Node, &v)
	var names []string
	for _, chain := range v {
		name := strings.TrimPrefix(chain, "baseline.")
		part := !strings.HasPrefix(name, watchPrefix) && slices.ContainsFunc(v, func(longer string) bool { return strings.HasPrefix(longer, chain+".") })
		if !part && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// LoadMetrics are the names under which the guardrails of a run in a trial find the metrics of its load.
func LoadMetrics() []string {
	return []string{"throughput", "error_share", "errors", "p50", "p95", "p99"}
}

// NamesBaseline tells whether an expression holds something against what it was before the change.
func NamesBaseline(when string) bool {
	tree, err := parser.Parse(when)
	if err != nil {
		return false // it was compiled: that does not happen
	}
	var v chains
	ast.Walk(&tree.Node, &v)
	return slices.Contains(v, "baseline")
}

// chains collects names and their members, such as mysql and mysql.threads_running.
type chains []string

func (v *chains) Visit(n *ast.Node) {
	if name := chainOf(*n); name != "" {
		*v = append(*v, name)
	}
}

func chainOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		property, isText := n.Property.(*ast.StringNode)
		if of := chainOf(n.Node); isText && of != "" {
			return of + "." + property.Value
		}
	}
	return ""
}
