package console

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// wrap breaks lines between words where they are longer than the width; what goes on is indented.
func wrap(text string, width int, indent string) string {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		lines[n] = wrapLine(line, width, indent)
	}
	return strings.Join(lines, "\n")
}

func wrapLine(line string, width int, indent string) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	out, column := lead, utf8.RuneCountInString(lead)
	for n, word := range strings.Fields(line) {
		length := utf8.RuneCountInString(word)
		switch {
		case n == 0:
		case column+1+length > width:
			out += "\n" + indent
			column = utf8.RuneCountInString(indent)
		default:
			out += " "
			column++
		}
		out += word
		column += length
	}
	return out
}

// Named is a thing and what it is.
type Named struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// legible is the fewest columns in which a sentence can be read.
const legible = 30

// PrintNamed lists things with what each is, broken to the terminal's width if there is one.
func PrintNamed(c Streams, all []Named) {
	longest := 0
	for _, x := range all {
		longest = max(longest, utf8.RuneCountInString(x.Name))
	}
	width, isTerminal := Terminal(c.Out)
	for _, x := range all {
		about := x.About
		if indent := longest + 2; isTerminal && width-indent >= legible {
			about = wrap(about, width-indent, "")
			about = strings.ReplaceAll(about, "\n", "\n"+strings.Repeat(" ", indent))
		}
		_, _ = fmt.Fprintf(c.Out, "%-*s  %s\n", longest, x.Name, about)
	}
}
