package series

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// Each writer of this package hands a record to its file in one piece as soon as it is there, and keeps nothing back:
// what a killed process leaves is complete but, at worst, for a torn last line. The readers leave that out.

// wholeLines reads r up to its last line end.
type wholeLines struct {
	r    *bufio.Reader
	rest []byte
	err  error
}

func newWholeLines(r io.Reader) *wholeLines { return &wholeLines{r: bufio.NewReader(r)} }

func (w *wholeLines) Read(p []byte) (int, error) {
	if len(w.rest) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		if w.rest, w.err = w.r.ReadBytes('\n'); w.err != nil {
			w.rest = nil
			return 0, w.err
		}
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// lines yields the complete lines of r without their ends. A line is valid until the next.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadBytes('\n')
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			}
			line = line[:len(line)-1]
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}
