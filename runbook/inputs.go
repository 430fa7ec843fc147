package runbook

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

// read returns an input's value, refusing what it must not be.
func (in Input) read(n *document.Node) (any, error) {
	if len(in.Enum) > 0 && !slices.Contains(in.Enum, n.Text) {
		return nil, document.UnknownName(n, "value", in.Enum)
	}
	switch in.Type {
	case "number":
		var f float64
		err := n.Decode(&f)
		return f, err
	case "integer":
		i, err := document.Count(n)
		return i, err
	case "boolean":
		if n.Text != "true" && n.Text != "false" {
			return nil, n.Errorf("%q, expected true or false", n.Text)
		}
		return n.Text == "true", nil
	case "clusters", "list":
		return readNames(n)
	case "duration":
		d, err := document.Duration(n)
		return d.String(), err
	}
	if n.Kind != document.Scalar {
		return nil, n.Errorf("%s, expected a text", n.Kind)
	}
	if n.Text == "" && (!n.Quoted || in.Default == nil) { // "" is a text, and says that there is none: of what must be given there is one
		return nil, n.Errorf("it is empty, expected %s", cmp.Or(strings.TrimSuffix(in.About, "."), "a text"))
	}
	return n.Text, nil
}

// Resolve returns the values of the inputs from what a person said, NAME to text.
func (b *Runbook) Resolve(said map[string]string) (map[string]any, error) {
	nodes := make(map[string]*document.Node, len(said))
	for name, text := range said {
		nodes[name] = &document.Node{Kind: document.Scalar, File: "--input " + name, Text: text}
	}
	return b.resolve(nodes, func(name string) *document.Problem {
		return (&document.Node{File: b.Name}).Errorf("input %q is missing", name).WithHint("--input %s=%s", name, example(b.Inputs[name]))
	})
}

// Accepts refuses inputs that stand in a document, with their place; with may be nil. It returns them as Resolve takes them.
func (b *Runbook) Accepts(with, at *document.Node) (map[string]string, error) {
	nodes, said := map[string]*document.Node{}, map[string]string{}
	if with != nil && with.Kind != document.Nothing {
		if with.Kind != document.Mapping {
			return nil, with.Errorf("%s, expected the inputs of %s", with.Kind, b.Name)
		}
		for _, e := range with.Entries {
			if _, known := b.Inputs[e.Key]; !known {
				return nil, document.UnknownKey(e, document.SortedKeys(b.Inputs))
			}
			nodes[e.Key], said[e.Key] = e.Value, Said(e.Value)
		}
	}
	_, err := b.resolve(nodes, func(name string) *document.Problem {
		return at.Errorf("%s: input %q is missing", b.Name, name).WithHint("with: {%s: %s}", name, example(b.Inputs[name]))
	})
	return said, err
}

// Said is an input's value as a person would say it on a command line: the items of a list with commas.
func Said(n *document.Node) string {
	if n.Kind != document.Sequence {
		return n.Text
	}
	texts := make([]string, len(n.Items))
	for i, item := range n.Items {
		texts[i] = item.Text
	}
	return strings.Join(texts, ",")
}

func (b *Runbook) resolve(said map[string]*document.Node, missing func(name string) *document.Problem) (map[string]any, error) {
	values := map[string]any{}
	var ps document.Problems
	for _, name := range document.SortedKeys(said) {
		if _, known := b.Inputs[name]; !known {
			n := *said[name]
			n.Text = name
			ps = append(ps, document.UnknownName(&n, "input", document.SortedKeys(b.Inputs)))
		}
	}
	for _, name := range document.SortedKeys(b.Inputs) {
		n := b.Inputs[name].Default
		if given := said[name]; given != nil {
			n = given
		}
		if n == nil {
			ps = append(ps, missing(name))
			continue
		}
		if n.Kind == document.Scalar && said[name] != nil && hint.ToFill(n.Text) && !slices.Contains(b.Inputs[name].Enum, n.Text) {
			ps = append(ps, n.Errorf("%s stands for the value that you give: %s", n.Text, cmp.Or(b.Inputs[name].About, name)))
			continue
		}
		v, err := b.Inputs[name].read(n)
		ps.Add(n, err)
		values[name] = v
	}
	return values, ps.Err()
}

func example(in Input) string {
	if len(in.Enum) > 0 {
		return in.Enum[0]
	}
	if in.Type == "" {
		return "TEXT"
	}
	return strings.ToUpper(string(in.Type))
}
