package runbook

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/internal/document"
)

// handedOver is the inputs of a command with every ${{ }} of what a shell reads moved into an environment variable, which the text names in
// its place: a value is never read as shell, whatever it holds. In single quotes, where a shell reads no variable, one is refused.
func handedOver(uses string, with *document.Node) (*document.Node, error) {
	if uses != action.CommandName || with == nil || with.Kind != document.Mapping {
		return with, nil
	}
	h := handover{names: map[string]string{}}
	out := with.Clone()
	for i, e := range out.Entries {
		if e.Value.Kind != document.Scalar || !slices.Contains([]string{"run", "check", "undo"}, e.Key) || !wellFormed(e.Value.Text) {
			continue
		}
		text, err := h.text(e.Value)
		if err != nil {
			return with, err
		}
		value := *e.Value
		value.Text, value.Quoted = text, true
		out.Entries[i].Value = &value
	}
	if len(h.variables) == 0 {
		return with, nil
	}
	if env := out.Get("env"); env == nil {
		at := &document.Node{Kind: document.Mapping, File: with.File, Line: with.Line, Column: with.Column, Entries: h.variables}
		out.Entries = append(out.Entries, document.Entry{Key: "env", At: at, Value: at})
	} else if env.Kind == document.Mapping { // what else is refused for what it is
		env.Entries = append(env.Entries, h.variables...)
	}
	return out, nil
}

// wellFormed tells whether every ${{ has its }} and holds something; what does not is refused elsewhere.
func wellFormed(text string) bool {
	parts := pieces(text)
	for i := 1; i < len(parts); i += 2 {
		if parts[i] == "" {
			return false
		}
	}
	return strings.Count(text, "${{") <= strings.Count(text, "}}")
}

type handover struct {
	names     map[string]string // by expression
	variables []document.Entry
}

func (h *handover) text(n *document.Node) (string, error) {
	var b strings.Builder
	var q quotes
	for i, part := range pieces(n.Text) {
		if i%2 == 0 {
			q.read(part)
			b.WriteString(part)
			continue
		}
		if q.single {
			return "", n.Errorf("${{ %s }} in single quotes, where a shell expands no variables: use double quotes", part)
		}
		b.WriteString("${" + h.variable(part, n) + "}")
	}
	return b.String(), nil
}

// variable is the name under which the value of an expression is handed over.
func (h *handover) variable(expression string, at *document.Node) string {
	if name := h.names[expression]; name != "" {
		return name
	}
	base := "P_" + strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, expression), "_")
	const longest = 40
	base = base[:min(len(base), longest)]
	name := base
	for n := 2; slices.ContainsFunc(h.variables, func(e document.Entry) bool { return e.Key == name }); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	h.names[expression] = name
	value := *at
	value.Text, value.Quoted = "${{ "+expression+" }}"+emptyText, true
	h.variables = append(h.variables, document.Entry{Key: name, At: &value, Value: &value})
	return name
}

// emptyText makes a text of what stands before it: an expression alone keeps the type of its value.
const emptyText = `${{ "" }}`

// quotes follows which quotes a shell's text is in.
type quotes struct {
	single, double, comment bool
	last                    byte
}

func (q *quotes) read(text string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case q.comment:
			q.comment = c != '\n'
		case q.single:
			q.single = c != '\''
		case c == '\\':
			i++
		case c == '"':
			q.double = !q.double
		case c == '\'':
			q.single = !q.double
		case c == '#' && !q.double && (q.last == 0 || strings.IndexByte(" \t\n;", q.last) >= 0):
			q.comment = true
		}
		q.last = c
	}
}
