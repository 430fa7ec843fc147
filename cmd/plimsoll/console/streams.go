// Package console is how commands speak with the person or the script that typed them: streams, questions, lines that change, arguments,
// errors and exit codes.
package console

import (
	"encoding/json"
	"io"
	"os"
	"reflect"

	"golang.org/x/term"

	"plimsoll/report"
)

// Streams is where a command reads and writes: what was asked for goes to Out, everything else to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	Given *Given // what every command of this program was given; nil: nothing
}

// Terminal tells whether a stream is shown to a person, and how wide it is.
func Terminal(stream any) (width int, yes bool) {
	f, ok := FileOf(stream)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 80, false
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w, true
	}
	return 80, true
}

// Paper is what a report is written on.
func (c Streams) Paper() report.Terminal {
	width, isTerminal := Terminal(c.Out)
	_, plain := os.LookupEnv("NO_COLOR") // https://no-color.org
	return report.Terminal{Width: width, Color: isTerminal && !plain && os.Getenv("TERM") != "dumb"}
}

// PrintJSON prints what was asked for as JSON.
func PrintJSON(c Streams, v any) error {
	e := json.NewEncoder(c.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.IsNil() {
		v = []any{} // who reads a list takes none as an empty one
	}
	return e.Encode(v)
}
