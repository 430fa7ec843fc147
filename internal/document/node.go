// Package document reads YAML strictly: every refusal names the file, line and column, what was expected, and the nearest
// name that would have done.
package document

import (
	"fmt"
	"strconv"
)

// Kind is what stands at a place of a document.
type Kind int

const (
	Nothing Kind = iota // an empty value or null
	Scalar
	Sequence
	Mapping
)

func (k Kind) String() string {
	return [...]string{"nothing", "a single value", "a list", "a mapping"}[k]
}

// Node is a value of a document and the place it stands.
type Node struct {
	Kind    Kind
	Text    string // of a scalar, as written, quotes removed
	Quoted  bool   // a scalar in quotes is a text, whatever it looks like
	Items   []*Node
	Entries []Entry // of a mapping, in the order written

	File         string
	Line, Column int // from 1
}

// Said is what stands at n, as a refusal of it quotes it.
func (n *Node) Said() string {
	if n.Kind == Scalar {
		return strconv.Quote(Cut(n.Text))
	}
	return n.Kind.String()
}

// Entry is one key of a mapping and its value.
type Entry struct {
	Key   string
	At    *Node // where the key stands
	Value *Node
}

// Get returns the value of a key of a mapping, nil when it is not there.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Remove takes a key out of a mapping and returns its value, nil when it was not there.
func (n *Node) Remove(key string) *Node {
	for i, e := range n.Entries {
		if e.Key == key {
			n.Entries = append(n.Entries[:i:i], n.Entries[i+1:]...)
			return e.Value
		}
	}
	return nil
}

// Put sets a key of a mapping, in its old place if it has one.
func (n *Node) Put(key string, v *Node) { n.put(Entry{Key: key, At: v, Value: v}) }

func (n *Node) put(e Entry) {
	for i, old := range n.Entries {
		if old.Key == e.Key {
			n.Entries[i] = e
			return
		}
	}
	n.Entries = append(n.Entries, e)
}

// Overlay puts what over says above n: mappings are merged key by key, anything else is replaced.
func (n *Node) Overlay(over *Node) {
	for _, e := range over.Entries {
		if old := n.Get(e.Key); old != nil && old.Kind == Mapping && e.Value.Kind == Mapping {
			old.Overlay(e.Value)
			continue
		}
		n.put(e)
	}
}

// Errorf is a refusal of what stands at n.
func (n *Node) Errorf(format string, args ...any) *Problem {
	p := &Problem{Text: fmt.Sprintf(format, cutAll(args)...)}
	if n != nil {
		p.File, p.Line, p.Column = n.File, n.Line, n.Column
	}
	return p
}

// Holds tells whether a problem is of a place in n: from its first line to its last.
func (n *Node) Holds(p *Problem) bool {
	return p.Line >= n.Line && p.Line <= n.lastLine()
}

func (n *Node) lastLine() int {
	last := n.Line
	for _, item := range n.Items {
		last = max(last, item.lastLine())
	}
	for _, e := range n.Entries {
		last = max(last, e.At.Line, e.Value.lastLine())
	}
	return last
}

// Clone copies n and all below it, places included.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Items = make([]*Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = item.Clone()
	}
	out.Entries = make([]Entry, len(n.Entries))
	for i, e := range n.Entries {
		out.Entries[i] = Entry{Key: e.Key, At: e.At, Value: e.Value.Clone()}
	}
	return &out
}
