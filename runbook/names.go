package runbook

import (
	"slices"
	"strings"

	"plimsoll/internal/document"
)

// readNames reads names, of clusters or of other things: a list, or one text with commas; "" is none.
func readNames(n *document.Node) ([]any, error) {
	if n.Kind == document.Scalar && n.Quoted && n.Text == "" {
		return []any{}, nil
	}

	var texts []string
	switch n.Kind {
	case document.Scalar:
		texts = strings.Split(n.Text, ",")
	case document.Sequence:
		for _, item := range n.Items {
			texts = append(texts, item.Text)
		}
	}
	names := make([]any, len(texts))
	for i, text := range texts {
		if names[i] = strings.TrimSpace(text); names[i] == "" || slices.Contains(names[:i], names[i]) {
			return nil, n.Errorf("%q, expected names, each once", strings.Join(texts, ","))
		}
	}
	if len(names) == 0 && n.Kind != document.Sequence {
		return nil, n.Errorf("%s, expected a list of names", n.Kind)
	}
	return names, nil
}

// Call replaces what a person calls clusters by their one name, in the inputs.
func (b *Runbook) Call(inputs map[string]any, one func(string) string) {
	for name, in := range b.Inputs {
		switch v := inputs[name].(type) {
		case string:
			if in.Type == "cluster" {
				inputs[name] = one(v)
			}
		case []any:
			for i := range v {
				if in.Type == "clusters" {
					v[i] = one(TextOf(v[i]))
				}
			}
		}
	}
}

// Clusters lists all that a run changes, its own among them, in the order in which they are locked.
func (b *Runbook) Clusters(own string, inputs map[string]any) []string {
	all := []string{own}
	for name, in := range b.Inputs {
		switch v := inputs[name].(type) {
		case string:
			if in.Type == "cluster" {
				all = append(all, v)
			}
		case []any:
			for _, one := range v {
				if in.Type == "clusters" {
					all = append(all, TextOf(one))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// IDOf is the id of a step, without its group and target.
func IDOf(key string) string { return key[strings.LastIndex(key, ".")+1:] }
