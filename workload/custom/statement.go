package custom

import (
	"strings"

	"plimsoll/internal/document"
)

// bind turns a statement with :names into one with ? placeholders, and returns the names in their order. What stands in
// quotes and comments is left alone, as are :: and :=.
func bind(n *document.Node) (text string, names []string, err error) {
	s := n.Text
	var b strings.Builder
	for i := 0; i < len(s); {
		if end := skip(s[i:]); end > 0 {
			b.WriteString(s[i : i+end])
			i += end
			continue
		}
		if s[i] == '?' {
			return "", nil, n.Errorf("a ? in the statement, expected the :name of a value in with")
		}
		if name := nameAt(s[i:]); name != "" {
			names = append(names, name)
			b.WriteByte('?')
			i += 1 + len(name)
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	if text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(b.String()), ";")); text == "" {
		return "", nil, n.Errorf("an empty statement")
	}
	return text, names, nil
}

// nameAt returns the name of a parameter that begins here, "" if none does.
func nameAt(s string) string {
	if s[0] != ':' || len(s) < 2 || !letter(s[1]) {
		return ""
	}
	end := 1
	for end < len(s) && (letter(s[end]) || s[end] >= '0' && s[end] <= '9') {
		end++
	}
	return s[1:end]
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// skip returns the length of what begins here and holds no parameters: something in quotes, a comment, a :: or :=. 0: nothing
// of the kind.
func skip(s string) int {
	until := func(end string) int {
		if i := strings.Index(s[1:], end); i >= 0 {
			return 1 + i + len(end)
		}
		return len(s)
	}
	switch {
	case s[0] == '\'' || s[0] == '"':
		for i := 1; i < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if s[i] == s[0] {
				return i + 1 // a doubled quote begins the next one
			}
		}
		return len(s)
	case s[0] == '`':
		return until("`")
	case strings.HasPrefix(s, "-- "), s[0] == '#':
		return until("\n")
	case strings.HasPrefix(s, "/*"):
		return until("*/")
	case strings.HasPrefix(s, "::"), strings.HasPrefix(s, ":="):
		return 2
	}
	return 0
}
