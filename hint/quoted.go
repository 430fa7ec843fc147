package hint

import (
	"slices"
	"strings"
	"unicode"
)

// FillIn stands in a command that is advised for a value that nobody but its reader knows. Commands refuse it.
const FillIn = "FILL_IN"

// ToFill tells whether a value is a word that stands in advised commands for what nobody but the reader knows: a reason, a node, a disk.
func ToFill(value string) bool {
	return slices.Contains([]string{FillIn, "REASON", "NODE", "VOLUME", "DISK", "FOLDER"}, value)
}

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

// Flags writes a flag once for each value, each with a space before it.
func Flags(flag string, values ...string) (text string) {
	for _, v := range values {
		text += " " + flag + " " + Quoted(v)
	}
	return text
}
