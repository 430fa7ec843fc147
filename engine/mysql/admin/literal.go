package admin

import (
	"math/bits"
	"strconv"
	"strings"
)

// Text writes a text as an SQL literal.
func Text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// Texts writes a list of texts, for IN.
func Texts(all []string) string { return list(all, Text) }

// Name writes an identifier in backticks: https://dev.mysql.com/doc/refman/en/identifiers.html.
func Name(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// Names writes a list of identifiers.
func Names(all []string) string { return list(all, Name) }

func list(all []string, write func(string) string) string {
	written := make([]string, len(all))
	for i, s := range all {
		written[i] = write(s)
	}
	return strings.Join(written, ", ")
}

// Value writes a variable's value as a person gives it: a number bare, with its unit resolved, anything else as a text.
func Value(s string) string {
	if n, is := Size(s); is {
		return strconv.FormatInt(n, 10)
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil && strings.Trim(s, "+-.0123456789eE") == "" {
		return s
	}
	return Text(s)
}

// Size reads a whole number with or without a unit of the servers': K, M, G, T, P, E, powers of 1024.
func Size(s string) (int64, bool) {
	shift := 0
	if len(s) > 1 {
		if i := strings.IndexByte("KMGTPE", s[len(s)-1]&^0x20); i >= 0 {
			shift = 10 * (i + 1)
			s = s[:len(s)-1]
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || bits.Len64(uint64(max(n, -n)))+shift > 63 {
		return 0, false
	}
	return n << shift, true
}

// Pattern writes a text as a LIKE pattern that stands for itself alone.
func Pattern(s string) string { return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(s) }
