package custom

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// requestKeys are what a request over HTTP is written with.
type requestKeys struct {
	Method  string         `yaml:"method" doc:"the HTTP method; default GET, or POST if there is a body"`
	Path    *document.Node `yaml:"path,required" doc:"the path below the target's path, with the query string"`
	Headers *document.Node `yaml:"headers" doc:"headers, by name"`
	Body    *document.Node `yaml:"body" doc:"the body: a mapping or list is sent as JSON, a text unchanged"`
	Expect  *document.Node `yaml:"expect" doc:"the status or statuses that count as success; default 200 to 299"`
}

// request is a statement that is a request.
type request struct {
	engine.Request
	names []string // of its parameters, in their order
}

var validMethod = regexp.MustCompile(`^[A-Z]+$`)

func readRequest(n *document.Node) (*request, error) {
	var keys requestKeys
	if err := n.Decode(&keys); err != nil {
		return nil, err
	}
	r := &request{}
	var ps document.Problems
	r.Method = keys.Method
	switch {
	case r.Method == "" && keys.Body != nil:
		r.Method = "POST"
	case r.Method == "":
		r.Method = "GET"
	case !validMethod.MatchString(r.Method):
		ps.Add(n, n.Get("method").Errorf("method %q, expected a word such as GET or POST", r.Method))
	}
	ps.Add(n, r.readPath(keys.Path))
	ps.Add(n, r.readHeaders(keys.Headers))
	ps.Add(n, r.readBody(keys.Body))
	ps.Add(n, r.readExpect(keys.Expect))
	return r, ps.Err()
}

func (r *request) readPath(n *document.Node) error {
	if n.Kind != document.Scalar || !strings.HasPrefix(n.Text, "/") {
		return n.Errorf("%q, expected a path that begins with /", n.Text)
	}
	if strings.ContainsAny(n.Text, " \t\n#") {
		return n.Errorf("a path with a blank or a #, which are written %%20 and %%23")
	}
	r.Path = r.text(n.Text)
	return nil
}

func (r *request) readHeaders(n *document.Node) error {
	if n == nil {
		return nil
	}
	if n.Kind != document.Mapping {
		return n.Errorf("%s, expected headers by their names", n.Kind)
	}
	var ps document.Problems
	for _, e := range n.Entries {
		if e.Value.Kind != document.Scalar || strings.ContainsAny(e.Value.Text, "\r\n") {
			ps.Add(e.Value, e.Value.Errorf("expected the value of header %s, a text of one line", e.Key))
			continue
		}
		r.Headers = append(r.Headers, engine.Header{Name: e.Key, Value: r.text(e.Value.Text)})
	}
	return ps.Err()
}

func (r *request) readBody(n *document.Node) error {
	switch {
	case n == nil || n.Kind == document.Nothing:
	case n.Kind == document.Scalar:
		r.Body = r.text(n.Text)
	default:
		var b strings.Builder
		r.json(&b, n)
		r.Body = b.String()
	}
	return nil
}

func (r *request) readExpect(n *document.Node) error {
	if n == nil {
		return nil
	}
	items := n.Items
	if n.Kind != document.Sequence {
		items = []*document.Node{n}
	}
	var ps document.Problems
	for _, item := range items {
		var status int
		if err := item.Decode(&status); err != nil || status < 200 || status > 599 {
			ps.Add(item, item.Errorf("%q, expected a status from 200 to 599", item.Text))
			continue
		}
		r.Statuses = append(r.Statuses, status)
	}
	return ps.Err()
}

// segment is a piece of text, or a parameter.
type segment struct{ literal, name string }

// segments takes a text apart at its :names; :: is a colon.
func segments(s string) []segment {
	var all []segment
	var literal strings.Builder
	for i := 0; i < len(s); {
		switch name := nameAt(s[i:]); {
		case strings.HasPrefix(s[i:], "::"):
			literal.WriteByte(':')
			i += 2
		case name != "":
			all = append(all, segment{literal: literal.String()}, segment{name: name})
			literal.Reset()
			i += 1 + len(name)
		default:
			literal.WriteByte(s[i])
			i++
		}
	}
	return append(all, segment{literal: literal.String()})
}

// doubled is a literal as a request's text writes it.
func doubled(s string) string { return strings.ReplaceAll(s, "?", "??") }

// text writes a text with its parameters.
func (r *request) text(s string) string { return r.join(s, doubled) }

func (r *request) join(s string, literal func(string) string) string {
	var b strings.Builder
	for _, part := range segments(s) {
		if part.name != "" {
			r.names = append(r.names, part.name)
			b.WriteByte('?')
			continue
		}
		b.WriteString(literal(part.literal))
	}
	return b.String()
}

// json writes a node as JSON. A value that is nothing but a parameter is of the parameter's own type.
func (r *request) json(b *strings.Builder, n *document.Node) {
	switch n.Kind {
	case document.Nothing:
		b.WriteString("null")
	case document.Mapping:
		for i, e := range n.Entries {
			b.WriteString([]string{"{", ", "}[min(i, 1)] + `"` + doubled(escaped(e.Key)) + `": `)
			r.json(b, e.Value)
		}
		b.WriteString([]string{"{}", "}"}[min(len(n.Entries), 1)])
	case document.Sequence:
		for i, item := range n.Items {
			b.WriteString([]string{"[", ", "}[min(i, 1)])
			r.json(b, item)
		}
		b.WriteString([]string{"[]", "]"}[min(len(n.Items), 1)])
	case document.Scalar:
		switch {
		case nameAt0(n.Text) != "":
			r.names = append(r.names, nameAt0(n.Text))
			b.WriteByte('?')
		case !n.Quoted && json.Valid([]byte(n.Text)) && !strings.HasPrefix(n.Text, `"`):
			b.WriteString(n.Text)
		default:
			b.WriteString(`"` + r.join(n.Text, func(s string) string { return doubled(escaped(s)) }) + `"`)
		}
	}
}

// nameAt0 is the name of the parameter that a text is, "" if it is something else.
func nameAt0(s string) string {
	if s == "" || len(nameAt(s)) != len(s)-1 {
		return ""
	}
	return nameAt(s)
}

// escaped is the inside of a JSON string.
func escaped(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a builder takes everything
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}

// arguments finds the operation's parameters that the request takes.
func (o *operation) arguments(n *document.Node, names []string) ([]int, error) {
	var known []string
	for _, p := range o.parameters {
		known = append(known, p.name)
	}
	args := make([]int, len(names))
	for i, name := range names {
		if args[i] = slices.Index(known, name); args[i] < 0 {
			hint := "for example with: {" + name + ": uniform 1..100}"
			if near := document.Nearest(name, known); near != "" {
				hint = "did you mean :" + near + "?"
			}
			return nil, n.Errorf("with has no value for :%s", name).WithHint("%s", hint)
		}
	}
	return args, nil
}
