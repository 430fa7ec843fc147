package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// console is where a command reads and writes: what was asked for goes to out, everything else to err.
type console struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// terminal tells whether a stream is shown to a person, and how wide it is.
func terminal(stream any) (width int, yes bool) {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 80, false
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w, true
	}
	return 80, true
}

// color tells whether a stream may be coloured: https://no-color.org.
func color(stream any) bool {
	_, yes := terminal(stream)
	return yes && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
