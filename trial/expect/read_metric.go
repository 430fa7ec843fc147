package expect

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/result"

	"github.com/expr-lang/expr/ast"

	"plimsoll/internal/document"
)

// metric reads the name of a metric with its selectors: throughput["binlog row"], p99(response).during("lab/freeze"),
// throughput.of("new_order").at("connections", 64).
func (t *Vocabulary) metric(n ast.Node) (Metric, error) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return t.named(n)
	case *ast.BuiltinNode: // max, mean and last are the expression language's own words too
		return t.call(n.Name, n.Arguments, n.String())
	case *ast.CallNode:
		switch callee := n.Callee.(type) {
		case *ast.IdentifierNode:
			return t.call(callee.Value, n.Arguments, n.String())
		case *ast.MemberNode:
			return t.method(callee, n.Arguments)
		}
	case *ast.MemberNode:
		if signal, is := t.bareSignal(n); is {
			if err := t.knownSignal(signal); err != nil {
				return Metric{}, err
			}
			return Metric{}, t.at.Errorf("%s is a signal, which has a value each second: say which one the expectation means", signal).
				WithHint("highest(%q), lowest, mean or last", signal)
		}
		return t.member(n)
	}
	return Metric{}, t.at.Errorf("%q is not a metric, expected one of %s or p50(response) and the like", n.String(), strings.Join(PlainMetrics, ", "))
}

func (t *Vocabulary) named(n *ast.IdentifierNode) (Metric, error) {
	if slices.Contains(PlainMetrics, n.Value) {
		return Metric{Name: n.Value}, nil
	}
	if _, is := Quantiles[n.Value]; is {
		return Metric{}, t.at.Errorf("%s of what? expected %s(response) or %s(service)", n.Value, n.Value, n.Value)
	}
	if slices.Contains(signalStatistics, n.Value) {
		return t.signal(n.Value, nil)
	}
	return Metric{}, t.unknown("metric", n.Value, slices.Concat(PlainMetrics, slices.Sorted(maps.Keys(Quantiles))))
}

// call reads what has arguments: a time, or a statistic of a signal, whose name stands in quotes.
func (t *Vocabulary) call(name string, arguments []ast.Node, text string) (Metric, error) {
	_, inQuotes := quoted(arguments)
	if slices.Contains(signalStatistics, name) && (inQuotes || name != "mean") {
		return t.signal(name, arguments)
	}
	return t.latency(name, arguments, text)
}

// latency reads p99(response) and p99(service), with an operation as a second argument if it is of one only.
func (t *Vocabulary) latency(name string, arguments []ast.Node, text string) (Metric, error) {
	m := Metric{Name: "quantile", Quantile: Quantiles[name]}
	if name == "mean" || name == "max" {
		m.Name = name
	} else if m.Quantile == 0 {
		return m, t.unknown("function", name, slices.Concat(slices.Sorted(maps.Keys(Quantiles)), []string{"max"}, signalStatistics))
	}
	if signal, inQuotes := quoted(arguments); inQuotes {
		return m, t.at.Errorf("%s: %s needs response or service", text, name).WithHint("the functions of a signal are lowest, highest, mean and last: highest(%q)", signal)
	}
	if len(arguments) == 0 || len(arguments) > 2 {
		return m, t.at.Errorf("%s: expected %s(response) or %s(service)", text, name, name)
	}
	of, is := arguments[0].(*ast.IdentifierNode)
	if !is || of.Value != string(result.Response) && of.Value != string(result.Service) {
		return m, t.at.Errorf("%s: %s is not a time, expected response or service", text, arguments[0].String())
	}
	m.Basis = result.Basis(of.Value)
	if len(arguments) == 2 {
		return t.ofOperation(m, arguments[1])
	}
	return m, nil
}

func (t *Vocabulary) ofOperation(m Metric, n ast.Node) (Metric, error) {
	if m.OfSignal() {
		return m, t.at.Errorf("%s is measured by node, not by operation", m)
	}
	name, is := n.(*ast.StringNode)
	if !is {
		return m, t.at.Errorf("%s: expected the name of an operation in quotes", n.String())
	}
	if t.Operations != nil && !slices.Contains(t.Operations, name.Value) {
		return m, t.unknown("operation", name.Value, t.Operations)
	}
	m.Operation = name.Value
	return m, nil
}

// member reads throughput["variant"] and throughput.baseline.
func (t *Vocabulary) member(n *ast.MemberNode) (Metric, error) {
	m, err := t.metric(n.Node)
	if err != nil {
		return m, err
	}
	name, is := n.Property.(*ast.StringNode)
	if !is {
		return m, t.at.Errorf("%s: expected the name of a variant in quotes", n.String())
	}
	switch { // the language reads x["name"] and x.name alike
	case slices.Contains(t.Variants, name.Value):
		m.Variant = name.Value
		return m, nil
	case len(t.Variants) == 0 && t.bracketed(name.Value):
		return m, t.at.Errorf("unknown variant %q: this trial compares no variants", name.Value).WithHint("a phase is named by .during(%q); compare: {variant: …} compares variants", name.Value)
	case !strings.HasSuffix(n.String(), "."+name.Value): // no phase has such a name
		return m, t.unknown("variant", name.Value, t.Variants)
	case slices.Contains(t.Phases, name.Value), len(t.Variants) == 0:
		return t.during(m, name.Value)
	}
	return m, t.unknown("variant or phase", name.Value, slices.Concat(t.Variants, t.Phases))
}

// bareSignal reads mysql.threads_running, with whatever selects of it, as the name of a signal: its first word is no metric, and begins one.
func (t *Vocabulary) bareSignal(n *ast.MemberNode) (name string, is bool) {
	property, text := n.Property.(*ast.StringNode)
	if !text {
		return "", false
	}
	switch inner := n.Node.(type) {
	case *ast.MemberNode:
		return t.bareSignal(inner)
	case *ast.IdentifierNode:
		family := inner.Value + "."
		if slices.Contains(PlainMetrics, inner.Value) || !slices.ContainsFunc(t.Signals, func(s string) bool { return strings.HasPrefix(s, family) }) {
			return "", false
		}
		return family + property.Value, true
	}
	return "", false
}

// bracketed tells whether a name that is no phase was written in brackets, as variants are.
func (t *Vocabulary) bracketed(name string) bool {
	return !slices.Contains(t.Phases, name) && (strings.Contains(t.text, `["`+name+`"]`) || strings.Contains(t.text, "['"+name+"']"))
}

// method reads .during("phase"), .of("operation") and .at("factor", level).
func (t *Vocabulary) method(n *ast.MemberNode, arguments []ast.Node) (Metric, error) {
	m, err := t.metric(n.Node)
	if err != nil {
		return m, err
	}
	method, _ := n.Property.(*ast.StringNode)
	switch {
	case method.Value == "during" && (len(arguments) == 1 || len(arguments) == 2):
		return t.duringStep(m, arguments)
	case method.Value == "of" && len(arguments) == 1:
		return t.ofOperation(m, arguments[0])
	case method.Value == "at" && len(arguments) == 2:
		return t.atLevel(m, arguments)
	case method.Value == "on" && len(arguments) == 1:
		return t.onNode(m, arguments[0])
	}
	return m, t.unknown("selector", method.Value, []string{`during("phase")`, `during("phase", "step")`, `of("operation")`, `at("factor", level)`, `on("node")`})
}

// onNode reads on("n2"), on("primary") and on("replica").
func (t *Vocabulary) onNode(m Metric, n ast.Node) (Metric, error) {
	name, is := n.(*ast.StringNode)
	if !is || !nodeName.MatchString(name.Value) {
		return m, t.at.Errorf("on(%s): expected primary, replica, or a node such as n2, in quotes", n.String())
	}
	switch part := name.Value == "primary" || name.Value == "replica"; {
	case m.OfSignal() && part:
		return m, t.at.Errorf("on(%q): a signal is of one node, expected its name, such as n2", name.Value)
	case m.OfSignal() && slices.Contains(t.OfNoNode, m.Signal):
		return m, t.at.Errorf("%s is shown by the load generator, not by a node", m.Signal)
	case !m.ofNode() && !m.OfSignal():
		return m, t.at.Errorf("%s is not measured by node; only signals, warmth and warm_time are", m.Name)
	}
	if number, err := strconv.Atoi(strings.TrimPrefix(name.Value, "n")); err == nil && t.Nodes > 0 && number > t.Nodes {
		return m, t.at.Errorf("on(%q): no such node, the cluster has %s", name.Value, nodesTo(t.Nodes))
	}
	m.Node = name.Value
	return m, nil
}

// nodesTo names the nodes of a cluster of so many.
func nodesTo(n int) string {
	if n == 1 {
		return "n1 alone"
	}
	return fmt.Sprintf("n1 to n%d", n)
}

var nodeName = regexp.MustCompile(`^(primary|replica|n[1-9][0-9]*)$`)

func (t *Vocabulary) atLevel(m Metric, arguments []ast.Node) (Metric, error) {
	factor, _ := arguments[0].(*ast.StringNode)
	if factor == nil || t.Factors[factor.Value] == nil {
		return m, t.unknown("factor", strings.Trim(arguments[0].String(), `"`), document.SortedKeys(t.Factors))
	}
	level := strings.Trim(arguments[1].String(), `"`)
	if !slices.Contains(t.Factors[factor.Value], level) {
		return m, t.unknown("level of "+factor.Value, level, t.Factors[factor.Value])
	}
	if m.At = maps.Clone(m.At); m.At == nil {
		m.At = map[string]string{}
	}
	m.At[factor.Value] = level
	return m, nil
}

// duringStep reads during("phase") and during("phase", "step").
func (t *Vocabulary) duringStep(m Metric, arguments []ast.Node) (Metric, error) {
	phase, is := arguments[0].(*ast.StringNode)
	if !is {
		return m, t.at.Errorf("during(%s): expected the name of a phase in quotes", arguments[0].String())
	}
	m, err := t.during(m, phase.Value)
	if err != nil || len(arguments) == 1 {
		return m, err
	}
	step, is := arguments[1].(*ast.StringNode)
	switch {
	case !is:
		return m, t.at.Errorf("during(%q, %s): expected the name of a step in quotes", phase.Value, arguments[1].String())
	case m.Name == "recovery_time" || m.Name == "impact_time" || m.ofNode():
		return m, t.at.Errorf("%s is measured over a whole phase, not over a step", m.Name)
	case !slices.Contains(t.Steps[phase.Value], StepID(step.Value)):
		return m, t.unknown("step of "+phase.Value, step.Value, t.Steps[phase.Value])
	}
	m.Step = step.Value
	return m, nil
}

func (t *Vocabulary) during(m Metric, phase string) (Metric, error) {
	if !slices.Contains(t.Phases, phase) {
		return m, t.unknown("phase", phase, t.Phases)
	}
	m.Phase = phase
	return m, nil
}

func (t *Vocabulary) unknown(what, name string, known []string) *document.Problem {
	at := *t.at
	at.Text = name
	return document.UnknownName(&at, what, known)
}

// checkLedger refuses what no ledger can tell.
func (t *Vocabulary) checkLedger(m Metric) error {
	switch {
	case !t.Audited:
		return t.at.Errorf("%s: there is no ledger that could count lost writes", m.Name).
			WithHint("keep a ledger beside the workload: load: {ledger: {rate: 200}}")
	case m.Operation != "" || m.Step != "":
		return t.at.Errorf("%s is measured over a whole cell, or over a change in its timeline", m)
	case m.Phase != "" && !slices.Contains(t.Changes, m.Phase):
		return t.at.Errorf("%s: only a change can lose writes; expected a phase in which something is run", m)
	}
	return nil
}

// StepID is a step's name in its runbook, by the key of what was done for it: restart, or each[n2].restart.
func StepID(key string) string { return key[strings.LastIndex(key, ".")+1:] }
