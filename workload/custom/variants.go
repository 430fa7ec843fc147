package custom

import (
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// variants is a text that may differ between engines: one for all, or a mapping of engines' names to texts.
type variants struct {
	plain *document.Node
	by    []document.Entry
}

// UnmarshalDocument implements document.Unmarshaler.
func (v *variants) UnmarshalDocument(n *document.Node) error {
	switch n.Kind {
	case document.Scalar:
		v.plain = n
		return nil
	case document.Mapping:
		if len(n.Entries) == 0 {
			return n.Errorf("no text, expected texts by engine")
		}
		for _, e := range n.Entries {
			if e.Value.Kind != document.Scalar {
				return e.Value.Errorf("%s, expected the text for %s", e.Value.Kind, e.Key)
			}
		}
		v.by = n.Entries
		return nil
	}
	return n.Errorf("%s, expected a text, or texts by engine", n.Kind)
}

// all returns every text.
func (v variants) all() []*document.Node {
	if v.plain != nil {
		return []*document.Node{v.plain}
	}
	var all []*document.Node
	for _, e := range v.by {
		all = append(all, e.Value)
	}
	return all
}

// of returns the text for an engine.
func (v variants) of(e engine.Engine) (*document.Node, error) {
	if v.plain != nil {
		return v.plain, nil
	}
	var known []string
	for _, entry := range v.by {
		if entry.Key == e.Name() {
			return entry.Value, nil
		}
		known = append(known, entry.Key)
	}
	return nil, v.by[0].At.Errorf("no text for engine %s, only for %s", e.Name(), strings.Join(known, ", "))
}
