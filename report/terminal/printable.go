package terminal

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// colour is all that a report tells a terminal beside text.
var colour = regexp.MustCompile("^\x1b\\[[0-9;]*m")

// Printable shows what would steer a terminal rather than stand on it: servers, commands and files choose names and messages, and whatever
// they hold must not move the cursor, clear a line or turn text around. Colours, tabs and line breaks stay.
func Printable(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == 0x1b {
			if c := colour.FindString(text[i:]); c != "" {
				b.WriteString(c)
				i += len(c)
				continue
			}
		}
		switch {
		case r == '\n' || r == '\t' || !steers(r):
			b.WriteString(text[i : i+n])
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// steers tells of control characters, and of those that change the direction of what follows.
func steers(r rune) bool {
	return r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
