// Package expect reads expectations, such as throughput["b"] > 0.9 * throughput["a"], into comparisons of metrics.
package expect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"plimsoll/internal/document"
)

// Comparison is one compiled expectation: a relation between two terms over metrics.
type Comparison struct {
	Text    string
	Metrics []Metric // each once
	// Estimate is what is judged against margin; it takes one value per metric.
	Estimate func(values []float64) float64
	Ratio    bool // estimate is positive and judged on the log scale
	Unit     string
	Op       string
	Margin   float64
}

// Vocabulary is what one expression may name.
type Vocabulary struct {
	at         *document.Node
	Variants   []string
	Factors    map[string][]string
	Phases     []string
	Steps      map[string][]string           // of the runbooks, by phase
	Operations []string                      // nil: not known yet, not checked
	Audited    bool                          // every cell keeps a ledger
	Changeless bool                          // nothing is done in any cell
	Changes    []string                      // the phases in which something is done
	Signals    []string                      // that can be shown; nil: not known, not checked
	OfNoNode   []string                      // those of them that are of no node
	Watched    func(expression string) error // refuses one that no watch can answer
	Rounds     int
	Nodes      int // how many nodes the cells have at most, n1 and so on; 0: not known, not checked
	metrics    []Metric
	text       string

	millisecond float64 // in what the comparison at hand counts times in
}

var (
	durationLiteral = regexp.MustCompile(`\b(\d+(?:\.\d+)?)(us|µs|ms|s|m)\b`)
	percentLiteral  = regexp.MustCompile(`(\d+(?:\.\d+)?)%(\s*(?:$|[)<>=!&|]))`)
	flipped         = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
)

// milliseconds is the function that durations are written as, to be counted in the unit of what they are compared with.
const milliseconds = "milliseconds"

var writtenDuration = regexp.MustCompile(milliseconds + `\(([0-9.e+-]+)\)`)

// plainNumbers writes durations and percentages as the expression language can read them. What stands in quotes is a name.
func plainNumbers(text string) string {
	parts := strings.Split(text, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = durationLiteral.ReplaceAllStringFunc(parts[i], func(s string) string {
			d, err := time.ParseDuration(s)
			if err != nil {
				return s
			}
			return milliseconds + "(" + strconv.FormatFloat(Millis(d), 'f', -1, 64) + ")"
		})
		parts[i] = percentLiteral.ReplaceAllStringFunc(parts[i], func(s string) string {
			m := percentLiteral.FindStringSubmatch(s)
			f, _ := strconv.ParseFloat(m[1], 64)
			return strconv.FormatFloat(f/100, 'f', -1, 64) + m[2]
		})
	}
	return strings.Join(parts, `"`)
}

// asWritten is a part of an expression as a person would have written it.
func asWritten(n ast.Node) string {
	return writtenDuration.ReplaceAllStringFunc(n.String(), func(s string) string {
		ms, err := strconv.ParseFloat(writtenDuration.FindStringSubmatch(s)[1], 64)
		if err != nil {
			return s
		}
		return time.Duration(ms * float64(time.Millisecond)).String()
	})
}

// Compile reads an expectation; "and" makes several comparisons of it.
func (t *Vocabulary) Compile(e Expectation) ([]Comparison, error) {
	t.at, t.text = e.At, e.Text
	tree, err := parser.Parse(plainNumbers(e.Text))
	if err != nil {
		var located *file.Error
		if errors.As(err, &located) {
			return nil, t.at.Expression(e.Text, located.Message)
		}
		return nil, t.at.Errorf("in %q: %v", e.Text, err)
	}
	return t.comparisons(tree.Node, e.Text)
}

func (t *Vocabulary) comparisons(n ast.Node, text string) ([]Comparison, error) {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil, t.at.Errorf("%q compares nothing, expected for example throughput > 1000", text)
	}
	switch b.Operator {
	case "and", "&&":
		left, err := t.comparisons(b.Left, asWritten(b.Left))
		if err != nil {
			return nil, err
		}
		right, err := t.comparisons(b.Right, asWritten(b.Right))
		return append(left, right...), err
	case "or", "||":
		return nil, t.at.Errorf("%q: an expectation cannot contain or", text).WithHint("write the weaker of the two, or two expectations")
	}
	if _, known := flipped[b.Operator]; !known {
		return nil, t.at.Errorf("%q compares nothing, expected for example throughput > 1000", text)
	}
	c, err := t.compare(b, text)
	if err != nil {
		return nil, err
	}
	return []Comparison{c}, nil
}

// compare reads a relation. Durations in it count in seconds where a signal does, and else in milliseconds.
func (t *Vocabulary) compare(b *ast.BinaryNode, text string) (Comparison, error) {
	t.millisecond = 1
	c, err := t.form(b, text)
	inSeconds := func(m Metric) bool { return m.Unit() == "seconds" }
	if err != nil || !slices.ContainsFunc(c.Metrics, inSeconds) {
		return c, err
	}
	if strings.Contains(b.String(), milliseconds) && slices.ContainsFunc(c.Metrics, func(m Metric) bool { return m.Unit() == "ms" }) {
		return c, t.at.Errorf("%q has metrics in seconds and in milliseconds: write times in it as numbers", text)
	}
	t.millisecond = 1e-3
	return t.form(b, text)
}

// form brings a relation into the form that is judged: an estimate against a margin. Where both sides are positive
// metrics it is their ratio; where one side is a number, the other side; else the difference against 0.
func (t *Vocabulary) form(b *ast.BinaryNode, text string) (Comparison, error) {
	t.metrics = nil
	leftFactor, leftNode := t.factorOut(b.Left)
	rightFactor, rightNode := t.factorOut(b.Right)
	c := Comparison{Text: text, Op: b.Operator}
	left, leftInfo, err := t.term(leftNode)
	if err != nil {
		return c, err
	}
	right, rightInfo, err := t.term(rightNode)
	if err != nil {
		return c, err
	}
	switch {
	case !leftInfo.measured && !rightInfo.measured:
		return c, t.at.Errorf("%q names no metric, expected one of %s or p50(response) and the like", text, strings.Join(PlainMetrics, ", "))
	case !leftInfo.measured: // 1000 < throughput
		left, right, leftInfo, rightInfo = right, left, rightInfo, leftInfo
		leftFactor, rightFactor = rightFactor, leftFactor
		c.Op = flipped[c.Op]
		fallthrough
	case !rightInfo.measured: // throughput > 1000
		c.Estimate, c.Ratio, c.Unit = left, leftInfo.positive, leftInfo.unit
		c.Margin = rightFactor * right(nil) / leftFactor
		if strings.Contains(b.String(), milliseconds) && !slices.ContainsFunc(t.metrics, mayBeTime) {
			return c, t.at.Errorf("%q compares %s, which is %s, with a time", text, t.metrics[0], unitWords[t.metrics[0].Unit()])
		}
		if c.Unit == "ms" && c.Margin != 0 && !strings.Contains(b.String(), milliseconds) && !slices.ContainsFunc(t.metrics, Metric.OfSignal) {
			return c, t.at.Errorf("%q compares a time with a number without a unit", text).
				WithHint("write the unit: %sms or %ss, for example", strconv.FormatFloat(c.Margin, 'f', -1, 64), strconv.FormatFloat(c.Margin, 'f', -1, 64))
		}
	case unitWords[leftInfo.unit] != "" && unitWords[rightInfo.unit] != "" && leftInfo.unit != rightInfo.unit:
		return c, t.at.Errorf("%q compares %s with %s", text, unitWords[leftInfo.unit], unitWords[rightInfo.unit])
	case leftInfo.positive && rightInfo.positive && leftFactor > 0 && rightFactor > 0:
		c.Estimate = func(v []float64) float64 { return left(v) / right(v) }
		c.Ratio, c.Unit, c.Margin = true, "ratio", rightFactor/leftFactor
	default:
		c.Estimate = func(v []float64) float64 { return leftFactor*left(v) - rightFactor*right(v) }
		c.Unit = leftInfo.unit
	}
	c.Metrics = t.metrics
	return c, nil
}

// unitWords are the units of the metrics that are no signals, for people.
var unitWords = map[string]string{"per_second": "a number per second", "share": "a share", "ms": "a time", "count": "a number"}

// mayBeTime tells whether a metric is a time, or a signal, whose name may not tell its unit.
func mayBeTime(m Metric) bool { return m.OfSignal() || m.Unit() == "ms" }

// factorOut splits constant factors off a product: 0.9 * x, x * 0.9, x / 2.
func (t *Vocabulary) factorOut(n ast.Node) (float64, ast.Node) {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return 1, n
	}
	if k, is := t.number(b.Left); is && b.Operator == "*" {
		f, rest := t.factorOut(b.Right)
		return k * f, rest
	}
	if k, is := t.number(b.Right); is && b.Operator == "*" {
		f, rest := t.factorOut(b.Left)
		return k * f, rest
	}
	if k, is := t.number(b.Right); is && b.Operator == "/" && k != 0 {
		f, rest := t.factorOut(b.Left)
		return f / k, rest
	}
	return 1, n
}

func (t *Vocabulary) number(n ast.Node) (float64, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return float64(n.Value), true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.CallNode:
		if callee, is := n.Callee.(*ast.IdentifierNode); is && callee.Value == milliseconds && len(n.Arguments) == 1 {
			ms, is := t.number(n.Arguments[0])
			return ms * t.millisecond, is
		}
	}
	return 0, false
}

// info is what is known of a term before it is measured.
type info struct {
	measured bool // holds a metric
	positive bool // built of positive metrics and numbers without subtraction
	unit     string
}

type evaluator func(values []float64) float64

// term compiles arithmetic over numbers and metrics.
func (t *Vocabulary) term(n ast.Node) (evaluator, info, error) {
	if k, is := t.number(n); is {
		return func([]float64) float64 { return k }, info{positive: k > 0}, nil
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		inner, what, err := t.term(n.Node)
		if n.Operator != "-" {
			return inner, what, err
		}
		what.positive = false
		return func(v []float64) float64 { return -inner(v) }, what, err
	case *ast.BinaryNode:
		return t.arithmetic(n)
	}
	m, err := t.metric(n)
	switch {
	case err != nil:
	case m.OfLedger():
		err = t.checkLedger(m)
	case (m.Name == "recovery_time" || m.Name == "impact_time" || m.ofNode()) && !m.OfSignal() && t.Changeless:
		err = t.at.Errorf("%s: nothing is changed in this trial, so there is nothing to measure it after", m.Name).
			WithHint("say in timeline what is done under load, and when")
	}
	if err != nil {
		return nil, info{}, err
	}
	i := t.index(m)
	return func(v []float64) float64 { return v[i] }, info{measured: true, positive: m.Positive(), unit: m.Unit()}, nil
}

func (t *Vocabulary) arithmetic(n *ast.BinaryNode) (evaluator, info, error) {
	left, a, err := t.term(n.Left)
	if err != nil {
		return nil, info{}, err
	}
	right, b, err := t.term(n.Right)
	if err != nil {
		return nil, info{}, err
	}
	what := info{measured: a.measured || b.measured, positive: a.positive && b.positive, unit: a.unit + b.unit}
	if a.measured && b.measured {
		what.unit = ""
		if a.unit == b.unit {
			what.unit = map[string]string{"/": "ratio", "*": ""}[n.Operator]
			if n.Operator == "+" || n.Operator == "-" {
				what.unit = a.unit
			}
		}
	}
	switch n.Operator {
	case "+":
		return func(v []float64) float64 { return left(v) + right(v) }, what, nil
	case "-":
		what.positive = false
		return func(v []float64) float64 { return left(v) - right(v) }, what, nil
	case "*":
		return func(v []float64) float64 { return left(v) * right(v) }, what, nil
	case "/":
		return func(v []float64) float64 { return left(v) / right(v) }, what, nil
	}
	return nil, info{}, t.at.Errorf("operator %q cannot be used in %q, expected + - * or /", n.Operator, n.String())
}

// index returns where a metric's value stands among the values.
func (t *Vocabulary) index(m Metric) int {
	for i, have := range t.metrics {
		if fmt.Sprint(have, have.At) == fmt.Sprint(m, m.At) {
			return i
		}
	}
	t.metrics = append(t.metrics, m)
	return len(t.metrics) - 1
}

// Expectation is one line of expect, with its place.
type Expectation struct {
	Text string
	At   *document.Node
}

// UnmarshalDocument reads the text of an expression.
func (e *Expectation) UnmarshalDocument(n *document.Node) error {
	if n.Kind != document.Scalar {
		return n.Errorf("%s, expected an expression such as throughput > 1000", n.Kind).
			WithHint(`quote it if it holds ": " or begins with a quote`)
	}
	e.Text, e.At = n.Text, n
	return nil
}

// DocumentSchema says what an expectation takes.
func (*Expectation) DocumentSchema() document.Schema { return document.Schema{"type": "string"} }
