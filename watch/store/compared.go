package store

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Compared is what a rule holds against a limit: the curve to look at when it fires.
type Compared struct {
	Expr    string   // without its comparison
	Operand string   // the name of the series, where Expr is one as it stands; else ""
	Limit   *float64 // nil: it is compared with another series, or not at all
}

// Comparisons takes an alert's expression apart: one part for each side of its ors, each asked of this instance alone; of "" of all.
func Comparisons(expr, instance string) ([]Compared, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil, BadQuery{err}
	}
	if instance != "" {
		parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
			if s, is := n.(*parser.VectorSelector); is && !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == "instance" }) {
				s.LabelMatchers = append(s.LabelMatchers, labels.MustNewMatcher(labels.MatchEqual, "instance", instance))
			}
			return nil
		})
	}
	return compared(e), nil
}

func compared(e parser.Expr) []Compared {
	switch one := e.(type) {
	case *parser.ParenExpr:
		return compared(one.Expr)
	case *parser.BinaryExpr:
		switch {
		case one.Op == parser.LOR:
			return append(compared(one.LHS), compared(one.RHS)...)
		case one.Op == parser.LAND, one.Op == parser.LUNLESS: // its value is that of the left
			return compared(one.LHS)
		case one.Op.IsComparisonOperator():
			if limit, is := number(one.LHS); is { // 0.1 > share
				return []Compared{{one.RHS.String(), nameOf(one.RHS), &limit}}
			}
			c := Compared{Expr: one.LHS.String(), Operand: nameOf(one.LHS)}
			if limit, is := number(one.RHS); is {
				c.Limit = &limit
			}
			return []Compared{c}
		}
	}
	return []Compared{{Expr: e.String(), Operand: nameOf(e)}}
}

// number is a literal, with its sign and in brackets.
func number(e parser.Expr) (float64, bool) {
	switch one := e.(type) {
	case *parser.NumberLiteral:
		return one.Val, true
	case *parser.ParenExpr:
		return number(one.Expr)
	case *parser.UnaryExpr:
		v, is := number(one.Expr)
		if one.Op == parser.SUB {
			v = -v
		}
		return v, is
	}
	return 0, false
}

func nameOf(e parser.Expr) string {
	if s, is := e.(*parser.VectorSelector); is {
		return s.Name
	}
	return ""
}
