// Package sqltext reads the text of SQL statements as far as that takes no schema: without their values, and which columns they compare.
package sqltext

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Normalize writes a statement without its values, comments and needless space, so that those that differ in nothing else are the
// same. A list of values is one: IN (?). It is our own where the server makes no digest.
func Normalize(sql string) string {
	var out strings.Builder
	space := false
	put := func(word string) {
		if out.Len() > 0 && space {
			out.WriteByte(' ')
		}
		space = false
		out.WriteString(word)
	}
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			space = true
			i++
		case c == '/' && strings.HasPrefix(sql[i:], "/*"):
			i = after(sql, i+2, "*/")
			space = true
		case c == '#' || c == '-' && strings.HasPrefix(sql[i:], "-- "):
			i = after(sql, i, "\n")
			space = true
		case c == '\'' || c == '"':
			i = quoted(sql, i)
			put("?")
		case c == '`':
			end := quoted(sql, i)
			put(sql[i:end])
			i = end
		case isDigit(c):
			end := i
			for end < len(sql) && (isWord(sql[end]) || sql[end] == '.' || (sql[end] == '-' || sql[end] == '+') && (sql[end-1] == 'e' || sql[end-1] == 'E')) {
				end++
			}
			put("?")
			i = end
		case isWord(c):
			end := i
			for end < len(sql) && isWord(sql[end]) {
				end++
			}
			put(sql[i:end])
			i = end
		default:
			put(string(c))
			i++
		}
	}
	return foldLists(out.String())
}

// foldLists makes (?, ?, ?) one value, and (?), (?) one row.
func foldLists(s string) string {
	s = strings.NewReplacer("?, ", "?,", "), (", "),(").Replace(s)
	for _, list := range []string{"?,?", "(?),(?)"} {
		for strings.Contains(s, list) {
			s = strings.ReplaceAll(s, list, list[:len(list)/2])
		}
	}
	return s
}

// after is the place after the next end, or the end of the text.
func after(s string, from int, end string) int {
	if at := strings.Index(s[min(from, len(s)):], end); at >= 0 {
		return from + at + len(end)
	}
	return len(s)
}

// quoted is the place after a quoted text that begins at from.
func quoted(s string, from int) int {
	quote := s[from]
	for i := from + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if quote != '`' {
				i++
			}
		case quote:
			if i+1 < len(s) && s[i+1] == quote {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || c == '$' || c == '@' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// Digest names a normalized statement.
func Digest(normalized string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.ToLower(normalized))) // it never fails
	return fmt.Sprintf("%016x", h.Sum64())
}
