package console

import (
	"strings"
	"unicode"
)

// Quoted is a text as a shell takes it: a step of a group has brackets, an input may have anything.
func Quoted(text string) string {
	if text != "" && strings.IndexFunc(text, needsQuotes) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func needsQuotes(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:=,@%+", r)
}
