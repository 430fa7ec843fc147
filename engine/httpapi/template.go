package httpapi

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll/engine"
)

// template is a request as it was prepared: the parts of its first line and headers, and of its body, between its parameters.
type template struct {
	method   string
	statuses []int // that count as success; none: 200 to 299
	path     []part
	headers  []part // whole lines, each with its end
	body     []part
	json     bool
	params   int
}

// part is a literal and then, unless it is the last, a parameter.
type part struct {
	text  []byte
	place place
}

// place is where a parameter stands, which says how it is written.
type place int

const (
	nowhere place = iota // there is no parameter
	inPath
	inHeader
	jsonValue
	jsonString
	plainText
)

// parseTemplate reads a request.
func parseTemplate(text string) (*template, error) {
	head, body, _ := strings.Cut(text, "\n\n")
	body = strings.TrimSpace(body)
	lines := strings.Split(head, "\n")
	words := strings.Fields(lines[0])
	if len(words) < 2 || len(words) > 3 || !isToken(words[0]) || !strings.HasPrefix(words[1], "/") {
		return nil, fmt.Errorf("request %q: its first line must be METHOD /path, optionally followed by the expected statuses", lines[0])
	}
	t := &template{method: words[0]}
	if len(words) == 3 {
		for word := range strings.SplitSeq(words[2], ",") {
			status, err := strconv.Atoi(word)
			if err != nil || status < 200 || status > 599 {
				return nil, fmt.Errorf("request %q: %q is not a status from 200 to 599", lines[0], word)
			}
			t.statuses = append(t.statuses, status)
		}
	}
	if strings.ContainsFunc(words[1], func(c rune) bool { return c <= ' ' || c > '~' || c == '#' }) {
		return nil, fmt.Errorf("request %q: the path contains a blank, a # or a non-ASCII character: write it percent-encoded", lines[0])
	}
	t.path = t.split(words[1], func([]byte) place { return inPath })
	if err := t.readHeaders(lines[1:]); err != nil {
		return nil, err
	}
	if !t.json && contentType(lines[1:]) == "" {
		kind := "text/plain; charset=utf-8"
		if t.json = strings.HasPrefix(body, "{") || strings.HasPrefix(body, "["); t.json {
			kind = "application/json"
		}
		if body != "" {
			t.headers = append(t.headers, part{text: []byte("Content-Type: " + kind + "\r\n")})
		}
	}
	if t.json {
		t.body = t.split(body, placeInJSON)
	} else {
		t.body = t.split(body, func([]byte) place { return plainText })
	}
	return t, nil
}

// ours are the headers that the session writes itself.
var ours = map[string]bool{"host": true, "content-length": true, "transfer-encoding": true, "connection": true, "authorization": true}

func (t *template) readHeaders(lines []string) error {
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		switch {
		case !ok || !isToken(name) || strings.ContainsAny(value, "\r\x00"):
			return fmt.Errorf("request header %q, expected Name: value", line)
		case ours[strings.ToLower(name)]:
			return fmt.Errorf("request header %s: Plimsoll sets it from the target and the body", name)
		}
		t.headers = append(t.headers, t.split(name+": "+strings.TrimSpace(value)+"\r\n", func([]byte) place { return inHeader })...)
	}
	t.json = strings.Contains(contentType(lines), "json")
	return nil
}

func contentType(lines []string) string {
	for _, line := range lines {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-type") {
			return strings.ToLower(strings.TrimSpace(value))
		}
	}
	return ""
}

// split cuts a text at its parameters; at tells the place of one by the text before it.
func (t *template) split(text string, at func(before []byte) place) []part {
	var parts []part
	var literal, before []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '?':
			literal = append(literal, text[i])
		case i+1 < len(text) && text[i+1] == '?':
			literal = append(literal, '?')
			i++
		default:
			before = append(before, literal...)
			parts = append(parts, part{literal, at(before)})
			literal = nil
			t.params++
		}
	}
	return append(parts, part{text: literal})
}

// placeInJSON tells whether the end of a piece of JSON lies within a string.
func placeInJSON(before []byte) place {
	quoted := false
	for i := 0; i < len(before); i++ {
		switch {
		case before[i] == '"':
			quoted = !quoted
		case quoted && before[i] == '\\':
			i++
		}
	}
	if quoted {
		return jsonString
	}
	return jsonValue
}

// isToken tells whether a method's or header's name is one (RFC 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

// success tells whether a status is what was hoped for.
func (t *template) success(status int) bool {
	if len(t.statuses) == 0 {
		return status >= 200 && status <= 299
	}
	for _, s := range t.statuses {
		if s == status {
			return true
		}
	}
	return false
}

var _ engine.Requesting = Engine{}

// Request writes a request as the text of a statement.
func (Engine) Request(r engine.Request) string {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.Path)
	for i, status := range r.Statuses {
		b.WriteByte(" ,"[min(i, 1)])
		b.WriteString(strconv.Itoa(status))
	}
	for _, h := range r.Headers {
		b.WriteString("\n" + h.Name + ": " + h.Value)
	}
	b.WriteString("\n\n" + r.Body)
	return b.String()
}
