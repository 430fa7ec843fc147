package custom

import (
	"strings"

	"plimsoll/internal/document"
)

// column is one column of a table.
type column struct {
	at    *document.Node
	name  string
	kind  variants // its type
	value source   // nil: the database sets it
	typed string   // kind for the engine at hand
}

// names is a name or a list of them.
type names []*document.Node

// UnmarshalDocument implements document.Unmarshaler.
func (l *names) UnmarshalDocument(n *document.Node) error {
	switch n.Kind {
	case document.Scalar:
		*l = names{n}
	case document.Sequence:
		for _, item := range n.Items {
			if item.Kind != document.Scalar {
				return item.Errorf("%s, expected the name of a column", item.Kind)
			}
		}
		*l = n.Items
	default:
		return n.Errorf("%s, expected the name of a column or a list of them", n.Kind)
	}
	return nil
}

// key is a table's primary key: columns, before which several may stand as the key of a partition.
type key struct{ partition, names names }

// UnmarshalDocument implements document.Unmarshaler.
func (k *key) UnmarshalDocument(n *document.Node) error {
	if n.Kind == document.Sequence && len(n.Items) > 0 && n.Items[0].Kind == document.Sequence {
		if err := k.partition.UnmarshalDocument(n.Items[0]); err != nil {
			return err
		}
		if len(k.partition) == 0 {
			return n.Items[0].Errorf("no column, expected those of the partition key")
		}
		rest := *n
		rest.Items = n.Items[1:]
		n = &rest
	}
	return k.names.UnmarshalDocument(n)
}

// texts are the columns as they are written.
func (k key) texts() []string {
	var all []string
	for _, n := range append(k.partition[:len(k.partition):len(k.partition)], k.names...) {
		all = append(all, n.Text)
	}
	return all
}

// longColumn is a column written as a mapping, for types that differ between engines.
type longColumn struct {
	Type  variants       `yaml:"type,required" doc:"the type, or the types by engine"`
	Value *document.Node `yaml:"value" doc:"the generator"`
}

// split takes the type out of what a column is written as, and returns where its generator begins: nil if it has none.
func (c *column) split(n *document.Node) (values *document.Node, offset int, err error) {
	if n.Kind == document.Mapping {
		var long longColumn
		if err := n.Decode(&long); err != nil {
			return nil, 0, err
		}
		c.kind = long.Type
		if long.Value != nil && long.Value.Kind != document.Scalar {
			return nil, 0, long.Value.Errorf("%s, expected a generator such as uniform 1..100", long.Value.Kind)
		}
		return long.Value, 0, nil
	}
	if n.Kind != document.Scalar {
		return nil, 0, n.Errorf("%s, expected TYPE = GENERATOR", n.Kind)
	}
	kind, offset := n.Text, equals(n.Text)
	if offset >= 0 {
		kind, values = n.Text[:offset], n
	}
	if kind = strings.TrimSpace(kind); kind == "" {
		return nil, 0, n.Errorf("no type, expected TYPE = GENERATOR")
	}
	plain := *n
	plain.Text = kind
	c.kind = variants{plain: &plain}
	return values, offset + 1, nil
}

// equals finds the = between a type and its generator: the first one outside of parentheses and quotes; -1: none.
func equals(s string) int {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '=' && depth == 0:
			return i
		}
	}
	return -1
}
