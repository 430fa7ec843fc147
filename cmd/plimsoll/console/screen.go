package console

import (
	"io"
	"os"
	"regexp"
	"sync"

	"golang.org/x/term"

	reportterminal "plimsoll/report/terminal"
)

// screen is a terminal. Of what is written there, text and colours reach it and nothing else: see reportterminal.Printable.
type screen struct {
	file *os.File

	mu   sync.Mutex
	rest string // of a colour that goes on in the next write
}

// OnScreen is a stream as commands write to it.
func OnScreen(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &screen{file: f}
}

// cut is a colour whose end is not written yet.
var cut = regexp.MustCompile("\x1b(\\[[0-9;]{0,32})?$")

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.rest + string(p)
	s.rest = cut.FindString(text)
	if _, err := s.file.WriteString(reportterminal.Printable(text[:len(text)-len(s.rest)])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// FileOf is the file behind a stream, for programs that are given the terminal itself.
func FileOf(stream any) (*os.File, bool) {
	switch s := stream.(type) {
	case *os.File:
		return s, true
	case *screen:
		return s.file, true
	case *given:
		return FileOf(s.Writer)
	}
	return nil, false
}

// Itself is a stream for a program that works the terminal by itself.
func Itself(w io.Writer) io.Writer {
	if f, ok := FileOf(w); ok {
		return f
	}
	return w
}

// eraseLine takes away the line that the cursor is on.
func eraseLine(w io.Writer) {
	_, _ = io.WriteString(Itself(w), "\r\x1b[K")
}
