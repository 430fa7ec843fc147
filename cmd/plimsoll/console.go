package main

import (
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"

	"plimsoll/report"
)

// console is where a command reads and writes: what was asked for goes to out, everything else to err.
type console struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// terminal tells whether a stream is shown to a person, and how wide it is.
func terminal(stream any) (width int, yes bool) {
	f, ok := fileOf(stream)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 80, false
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w, true
	}
	return 80, true
}

// paper is what a report is written on.
func (c console) paper() report.Terminal {
	width, person := terminal(c.out)
	_, plain := os.LookupEnv("NO_COLOR") // https://no-color.org
	return report.Terminal{Width: width, Color: person && !plain && os.Getenv("TERM") != "dumb"}
}

// jsonTo prints what was asked for as JSON.
func jsonTo(c console, v any) error {
	e := json.NewEncoder(c.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
