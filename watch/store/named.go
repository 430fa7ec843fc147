package store

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Named lists the series that an expression names, each once. It is a BadQuery if the expression cannot be understood, or comes to
// something else than a number or numbers.
func Named(expr string) ([]string, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil, BadQuery{err}
	}
	if t := e.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeScalar {
		return nil, BadQuery{fmt.Errorf("its value is a %s, expected an instant vector or a number", parser.DocumentedType(t))}
	}
	var names []string
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		selector, is := n.(*parser.VectorSelector)
		if !is {
			return nil
		}
		for _, m := range selector.LabelMatchers {
			if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual && !slices.Contains(names, m.Value) {
				names = append(names, m.Value)
			}
		}
		return nil
	})
	return names, nil
}
