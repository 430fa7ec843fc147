package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Parse reads one YAML document. name stands in the messages.
func Parse(name string, data []byte) (*Node, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if problem := legible(name, data); problem != nil {
		return nil, Problems{problem}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, Problems{syntaxProblem(name, data, err)}
	}
	r := reader{name: name, anchors: map[string]*Node{}, sizes: map[*Node]int{}}
	var root *Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, Problems{r.at(doc.Body).Errorf("a second document begins here, expected one")}
		}
		root = r.node(doc.Body)
	}
	if root == nil {
		return nil, Problems{{File: name, Line: 1, Column: 1, Text: "the file is empty"}}
	}
	return root, r.problems.Err()
}

func syntaxProblem(name string, data []byte, err error) *Problem {
	p := &Problem{File: name, Text: Cut(err.Error())}
	var located yaml.Error
	if errors.As(err, &located) {
		p.Text = Cut(located.GetMessage())
		if t := located.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
		if expected, is := strings.CutSuffix(p.Text, " must be specified"); is {
			p.Text, p.Hint = "expected "+expected, "put a text that contains any of {}[],: in quotes"
			if strings.Contains(lineOf(data, p.Line), "${{") {
				p.Hint = `put a text with ${{ }} in quotes: "${{ … }}"`
			}
		}
		if strings.Contains(p.Text, "mapping value is not allowed") {
			p.Text, p.Hint = "a second colon, expected one text after KEY:", "put a text that contains a colon and a space in quotes"
		}
		if line := strings.TrimSpace(lineOf(data, p.Line)); !strings.Contains(line, ":") && (strings.Contains(p.Text, "non-map value is specified") || strings.Contains(p.Text, "unexpected key name")) {
			p.Text, p.Hint = fmt.Sprintf("%q, expected KEY: VALUE", line), "a colon is missing"
		}
		if strings.Contains(p.Text, "'\t'") {
			p.Hint = "YAML is indented with spaces, never with tabs"
		}
		if strings.Contains(p.Text, "header option") { // what begins with > or | is a folded text
			p.Text, p.Hint, p.folded = "a text that contains > or | must be in quotes", `for example ['throughput["b"] > 100']`, true
		}
	}
	return p
}

// lineOf is a line of a text, counted from 1.
func lineOf(data []byte, number int) string {
	n := 0
	for line := range bytes.Lines(data) {
		if n++; n == number {
			return string(line)
		}
	}
	return ""
}

type reader struct {
	name     string
	anchors  map[string]*Node
	problems Problems

	depth int
	nodes int           // read, those that aliases repeat among them
	sizes map[*Node]int // of what anchors name
	over  bool          // a bound was passed: nothing more is read
}

func (r *reader) at(n ast.Node) *Node {
	out := &Node{File: r.name}
	if t := n.GetToken(); t != nil && t.Position != nil {
		out.Line, out.Column = t.Position.Line, t.Position.Column
	}
	return out
}

func (r *reader) node(n ast.Node) *Node {
	out := r.at(n)
	r.depth, r.nodes = r.depth+1, r.nodes+1
	defer func() { r.depth-- }()
	if r.exceeds(out) {
		return out
	}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		r.mapping(out, n.Values)
	case *ast.MappingValueNode:
		r.mapping(out, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.Kind = Sequence
		for _, v := range n.Values {
			out.Items = append(out.Items, r.node(v))
		}
	case *ast.StringNode:
		out.Kind, out.Text = Scalar, n.Value
		out.Quoted = strings.HasPrefix(n.GetToken().Origin, `"`) || strings.HasPrefix(strings.TrimSpace(n.GetToken().Origin), `"`) ||
			strings.HasPrefix(strings.TrimSpace(n.GetToken().Origin), `'`)
	case *ast.LiteralNode:
		out.Kind, out.Text, out.Quoted = Scalar, n.Value.Value, true
	case *ast.AnchorNode:
		before := r.nodes
		out = r.node(n.Value)
		r.anchors[n.Name.GetToken().Value] = out
		r.sizes[out] = r.nodes - before
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		if target := r.anchors[name]; target != nil {
			r.nodes += r.sizes[target]
			r.exceeds(out)
			return target
		}
		r.problems = append(r.problems, out.Errorf("no anchor &%s is defined above", name))
	case *ast.TagNode:
		r.problems = append(r.problems, out.Errorf("tags are not used here"))
	case ast.ScalarNode:
		out.Kind, out.Text = Scalar, n.GetToken().Value
	default:
		r.problems = append(r.problems, out.Errorf("unexpected %s", n.Type()))
	}
	if len(out.Text) > MaxText {
		r.stop(out.Errorf("a text of %d bytes, expected at most %d", len(out.Text), MaxText))
	}
	return out
}

// exceeds tells whether a bound is passed at a place, and refuses it there, once.
func (r *reader) exceeds(at *Node) bool {
	switch {
	case r.over:
	case r.depth > MaxDepth:
		r.stop(at.Errorf("nested too deeply, expected at most %d levels", MaxDepth))
	case r.nodes > MaxNodes:
		r.stop(at.Errorf("more than %d values, those that aliases repeat among them", MaxNodes))
	}
	return r.over
}

func (r *reader) stop(p *Problem) {
	r.over = true
	r.problems = append(r.problems, p)
}

func (r *reader) mapping(out *Node, values []*ast.MappingValueNode) {
	out.Kind = Mapping
	seen := map[string]*Node{}
	for i, v := range values {
		at := r.at(v.Key)
		if i == 0 {
			out.Line, out.Column = at.Line, at.Column
		}
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			if base := r.node(v.Value); base.Kind == Mapping {
				out.Overlay(base)
			} else {
				r.problems = append(r.problems, at.Errorf("<< merges %s, expected a mapping", base.Kind))
			}
			continue
		}
		key := v.Key.GetToken().Value
		if old := seen[key]; old != nil {
			r.problems = append(r.problems, at.Errorf("%q is given twice, first in line %d", key, old.Line))
			continue
		}
		seen[key] = at
		value := r.node(v.Value)
		if value.Kind == Nothing {
			value.Line, value.Column = at.Line, at.Column
		}
		out.Entries = append(out.Entries, Entry{Key: key, At: at, Value: value})
	}
}
