package runbook

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"plimsoll/internal/document"
)

// programs are the runbook's expressions, compiled once.
type programs struct{ byText map[string]*vm.Program }

// scope is what an expression may name where it stands.
type scope struct {
	inputs []string
	steps  []string // those before it
	names  []string // other names: target, cluster, error, output
	any    bool     // metrics: any name is allowed
}

// compile compiles an expression and refuses what it cannot know.
func (p *programs) compile(text string, s scope, at *document.Node) error {
	env := map[string]any{"inputs": map[string]any{}, "steps": map[string]any{}}
	for _, name := range s.names {
		if env[name] = map[string]any{}; name == "target" {
			env[name] = ""
		}
	}
	options := []expr.Option{expr.Env(env), expr.DisableBuiltin("now"), expr.Optimize(false)}
	if s.any {
		options = append(options, expr.AllowUndefinedVariables())
	}
	tree, err := parser.ParseWithConfig(text, conf.CreateNew())
	if err == nil {
		if problem := s.look(&tree.Node, at); problem != nil {
			return problem
		}
		if problem := lookAtWatch(&tree.Node, at); problem != nil {
			return problem
		}
		var program *vm.Program
		if program, err = expr.Compile(text, options...); err == nil {
			p.byText[text] = program
			return nil
		}
	}
	var located *file.Error
	if errors.As(err, &located) {
		return at.Expression(text, located.Message)
	}
	return at.Errorf("in %q: %v", text, err)
}

// look refuses inputs and steps that are not there.
func (s scope) look(n *ast.Node, at *document.Node) *document.Problem {
	var v lookup
	ast.Walk(n, &v)
	for _, m := range v.members {
		known := s.inputs
		if m.of == "steps" {
			known = s.steps
		}
		if slices.Contains(known, m.name) {
			continue
		}
		named := *at
		named.Text = m.name
		p := document.UnknownName(&named, "input", known)
		if m.of == "steps" {
			p.Text = fmt.Sprintf("no step %q comes before this one", m.name)
			if len(known) > 0 {
				p.Text += ", only " + strings.Join(known, ", ")
			}
		}
		return p
	}
	return nil
}

// lookup collects inputs.NAME and steps.NAME.
type lookup struct{ members []struct{ of, name string } }

func (v *lookup) Visit(n *ast.Node) {
	m, ok := (*n).(*ast.MemberNode)
	if !ok {
		return
	}
	of, isName := m.Node.(*ast.IdentifierNode)
	name, isText := m.Property.(*ast.StringNode)
	if isName && isText && (of.Value == "inputs" || of.Value == "steps") {
		v.members = append(v.members, struct{ of, name string }{of.Value, name.Value})
	}
}

// StepsOf lists the steps that an expression names.
func StepsOf(text string) []string {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil
	}
	var v lookup
	ast.Walk(&tree.Node, &v)
	var names []string
	for _, m := range v.members {
		if m.of == "steps" {
			names = append(names, m.name)
		}
	}
	return names
}

// conditionsWithout are the parts of a condition, joined by "and", that name no step. When one of them is false, so is the whole.
func conditionsWithout(text string) []string {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil
	}
	var parts []string
	var split func(n ast.Node)
	split = func(n ast.Node) {
		if b, both := n.(*ast.BinaryNode); both && (b.Operator == "&&" || b.Operator == "and") {
			split(b.Left)
			split(b.Right)
			return
		}
		if part := n.String(); len(StepsOf(part)) == 0 {
			parts = append(parts, part)
		}
	}
	split(tree.Node)
	return parts
}

func (p *programs) run(text string, env map[string]any) (any, error) {
	program := p.byText[text]
	if program == nil {
		return nil, fmt.Errorf("%q was not compiled", text)
	}
	out, err := vm.Run(program, env)
	if err != nil {
		return nil, fmt.Errorf("evaluate %q: %s", text, FirstLine(err.Error()))
	}
	return out, nil
}

func (p *programs) truth(text string, env map[string]any) (bool, error) {
	out, err := p.run(text, env)
	if err != nil {
		return false, err
	}
	b, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("%q is %v, expected true or false", text, out)
	}
	return b, nil
}

func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// pieces splits a text with ${{ }} into plain texts and expressions, in turn, beginning with a plain text.
func pieces(text string) []string {
	var out []string
	for {
		before, rest, open := strings.Cut(text, "${{")
		out = append(out, before)
		if !open {
			return out
		}
		inside, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return append(out, strings.TrimSpace(rest))
		}
		out = append(out, strings.TrimSpace(inside))
		text = after
	}
}

// fill evaluates the expressions in a text. A text that is one expression keeps its value's type.
func (p *programs) fill(text string, env map[string]any) (any, error) {
	parts := pieces(text)
	if len(parts) == 3 && parts[0] == "" && parts[2] == "" {
		return p.run(parts[1], env)
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		v, err := p.run(part, env)
		if err != nil {
			return nil, err
		}
		b.WriteString(TextOf(v))
	}
	return b.String(), nil
}

// fillNode returns a copy of n with its expressions evaluated.
func (p *programs) fillNode(n *document.Node, env map[string]any) (*document.Node, error) {
	if n == nil {
		return nil, nil
	}
	if n.Kind == document.Scalar && strings.Contains(n.Text, "${{") {
		v, err := p.fill(n.Text, env)
		if err != nil {
			return nil, n.Errorf("%v", err)
		}
		return nodeOf(v, n), nil
	}
	out := *n
	out.Items, out.Entries = slices.Clone(n.Items), slices.Clone(n.Entries)
	for i, item := range n.Items {
		filled, err := p.fillNode(item, env)
		if err != nil {
			return nil, err
		}
		out.Items[i] = filled
	}
	for i, e := range n.Entries {
		filled, err := p.fillNode(e.Value, env)
		if err != nil {
			return nil, err
		}
		out.Entries[i].Value = filled
	}
	return &out, nil
}

// nodeOf writes a plain value as a document, at the place of another.
func nodeOf(v any, at *document.Node) *document.Node {
	n := &document.Node{}
	if at != nil {
		n.File, n.Line, n.Column = at.File, at.Line, at.Column
	}
	switch v := v.(type) {
	case nil:
	case []any:
		n.Kind = document.Sequence
		for _, item := range v {
			n.Items = append(n.Items, nodeOf(item, at))
		}
	case []string:
		n.Kind = document.Sequence
		for _, item := range v {
			n.Items = append(n.Items, nodeOf(item, at))
		}
	case map[string]any:
		n.Kind = document.Mapping
		for _, key := range document.SortedKeys(v) {
			value := nodeOf(v[key], at)
			n.Entries = append(n.Entries, document.Entry{Key: key, At: value, Value: value})
		}
	case string:
		n.Kind, n.Text, n.Quoted = document.Scalar, v, true
	default:
		n.Kind, n.Text = document.Scalar, TextOf(v)
	}
	return n
}

func TextOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Duration:
		return v.String()
	}
	return fmt.Sprint(v)
}
