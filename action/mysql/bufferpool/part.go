package bufferpool

import (
	"errors"
	"fmt"
	"strings"

	"plimsoll/internal/document"
)

// parts are what a person names: tables, or indexes.
type parts []part

// part names a table or an index.
type part struct{ schema, table, index string }

func (p part) String() string {
	name := p.schema + "." + p.table
	if p.index != "" {
		name += "." + p.index
	}
	return name
}

// UnmarshalDocument reads a list, or names with commas between them, as an input of a runbook can give.
func (p *parts) UnmarshalDocument(n *document.Node) error {
	var names []string
	if n.Kind == document.Scalar {
		for name := range strings.SplitSeq(n.Text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	} else if err := n.Decode(&names); err != nil {
		return err
	}
	for _, name := range names {
		one, err := readPart(name)
		if err != nil {
			return n.Errorf("%q %v", name, err)
		}
		*p = append(*p, one)
	}
	return nil
}

var errName = errors.New("is not a name such as shop.orders, or shop.orders.PRIMARY of an index; write a name that contains a dot in backticks")

func readPart(name string) (part, error) {
	var words []string
	for rest := name; ; {
		var word string
		if quoted, ok := strings.CutPrefix(rest, "`"); ok {
			end := strings.IndexByte(quoted, '`')
			if end < 0 {
				return part{}, errName
			}
			word, rest = quoted[:end], quoted[end+1:]
		} else {
			end := strings.IndexByte(rest, '.')
			if end < 0 {
				end = len(rest)
			}
			word, rest = rest[:end], rest[end:]
		}
		if word == "" {
			return part{}, errName
		}
		words = append(words, word)
		if rest == "" {
			break
		}
		var dot bool
		if rest, dot = strings.CutPrefix(rest, "."); !dot {
			return part{}, errName
		}
	}
	switch len(words) {
	case 2:
		return part{schema: words[0], table: words[1]}, nil
	case 3:
		return part{words[0], words[1], words[2]}, nil
	}
	return part{}, errName
}

// chosen is the choice of tables and indexes, as an action takes it.
type chosen struct {
	Tables  parts `yaml:"tables" doc:"Tables with all their indexes, such as shop.orders; shop.* is all tables of shop. A list, or names separated by commas."`
	Indexes parts `yaml:"indexes" doc:"Only these indexes, such as shop.orders.PRIMARY (the rows themselves) or shop.orders.by_customer."`
}

func (c chosen) empty() bool { return len(c.Tables) == 0 && len(c.Indexes) == 0 }

func (c chosen) validate() error {
	for _, t := range c.Tables {
		if t.index != "" {
			return fmt.Errorf("tables: %s names an index, which belongs under indexes", t)
		}
	}
	for _, i := range c.Indexes {
		if i.index == "" {
			return fmt.Errorf("indexes: %s names a table, which belongs under tables", i)
		}
	}
	return nil
}

// DocumentSchema says what names of parts take.
func (*parts) DocumentSchema() document.Schema {
	return document.AnyOf(document.TextSchema(), document.Schema{"type": "array", "items": document.TextSchema()})
}
