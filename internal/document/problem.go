package document

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one refusal.
type Problem struct {
	File         string
	Line, Column int // 0 when it is not of a place
	Text         string
	Hint         string

	key    string // the key that is unknown
	folded bool   // YAML took > or | for the beginning of a folded text
}

func (p *Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(p.Text)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// WithHint says what to do about it.
func (p *Problem) WithHint(format string, args ...any) *Problem {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

// Problems are all refusals of a document, at least one, in the order of their places.
type Problems []*Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// add books an error found at n: problems as they are, anything else as a problem of that place, with its hint.
func (ps *Problems) add(n *Node, err error) {
	var many Problems
	var one *Problem
	switch {
	case err == nil:
	case errors.As(err, &many):
		*ps = append(*ps, many...)
	case errors.As(err, &one):
		*ps = append(*ps, one)
	default:
		p := n.Errorf("%v", err)
		var advised interface{ Hint() string }
		if errors.As(err, &advised) {
			p.Hint = advised.Hint()
		}
		*ps = append(*ps, p)
	}
}

// Add books an error found at n; nil is none.
func (ps *Problems) Add(n *Node, err error) { ps.add(n, err) }

// Err returns ps as an error, nil when there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}
