package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"plimsoll/engine"
)

// answer is what a service answered, as RFC 9112 has it.
type answer struct {
	status  int
	minor   int // of HTTP/1.x
	length  int64
	chunked bool
	close   bool   // the connection ends after it
	server  string // what it calls itself
	begin   []byte // of the body, for an error's text
}

const (
	maxHeaders = 64 << 10
	maxBegin   = 300 // bytes of a body that an error quotes
	unknown    = -1
)

var errAnswer = errors.New("the answer is not HTTP/1.1")

// read reads an answer; its body goes to r if that keeps it.
func (a *answer) read(in *bufio.Reader, method string, r *engine.Result) error {
	for {
		if err := a.head(in); err != nil {
			return err
		}
		if a.status >= 200 {
			break
		}
		if a.status == 101 {
			return errAnswer
		}
	}
	a.begin = a.begin[:0]
	switch {
	case method == "HEAD", a.status == 204, a.status == 304:
		return nil
	case a.chunked:
		return a.chunks(in, r)
	case a.length == unknown:
		a.close = true
		return a.toTheEnd(in, r)
	}
	return a.body(in, a.length, r)
}

// head reads a status line and its headers.
func (a *answer) head(in *bufio.Reader) error {
	line, err := readLine(in)
	if err != nil {
		return err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' {
		return errAnswer
	}
	a.minor = int(line[7] - '0')
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil || status < 100 {
		return errAnswer
	}
	a.status, a.length, a.chunked, a.close = status, unknown, false, a.minor == 0
	for total := 0; ; {
		line, err := readLine(in)
		if err != nil {
			return unexpected(err)
		}
		if len(line) == 0 {
			return nil
		}
		if total += len(line); total > maxHeaders {
			return errAnswer
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return errAnswer
		}
		if err := a.header(name, bytes.TrimSpace(value)); err != nil {
			return err
		}
	}
}

func (a *answer) header(name, value []byte) error {
	switch {
	case equalFold(name, "content-length"):
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 || a.length != unknown && a.length != n {
			return errAnswer
		}
		a.length = n
	case equalFold(name, "transfer-encoding"):
		if !equalFold(value, "chunked") {
			return fmt.Errorf("transfer encoding %q, which was not requested", value)
		}
		a.chunked = true
	case equalFold(name, "connection"):
		for option := range bytes.SplitSeq(value, []byte(",")) {
			switch option = bytes.TrimSpace(option); {
			case equalFold(option, "close"):
				a.close = true
			case equalFold(option, "keep-alive"):
				a.close = false
			}
		}
	case equalFold(name, "server"):
		if a.server != string(value) {
			a.server = string(value)
		}
	}
	return nil
}

// equalFold is bytes.EqualFold for a lower-case ASCII word.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// readLine returns a line without its end. It is valid until the next read.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errAnswer
	}
	if err != nil {
		if len(line) > 0 {
			err = unexpected(err)
		}
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// chunks reads a body in pieces.
func (a *answer) chunks(in *bufio.Reader, r *engine.Result) error {
	for {
		line, err := readLine(in)
		if err != nil {
			return unexpected(err)
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, ok := parseHex(bytes.TrimSpace(size))
		if !ok {
			return errAnswer
		}
		if n == 0 {
			break
		}
		if err := a.body(in, n, r); err != nil {
			return err
		}
		if line, err = readLine(in); err != nil || len(line) > 0 {
			return errAnswer
		}
	}
	for { // trailers
		line, err := readLine(in)
		if err != nil {
			return unexpected(err)
		}
		if len(line) == 0 {
			return nil
		}
	}
}

func parseHex(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 + int64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 + int64(c-'a') + 10
		case c >= 'A' && c <= 'F':
			n = n<<4 + int64(c-'A') + 10
		default:
			return 0, false
		}
	}
	return n, true
}

// body takes so many bytes out of the buffer, piece by piece.
func (a *answer) body(in *bufio.Reader, length int64, r *engine.Result) error {
	for length > 0 {
		if in.Buffered() == 0 {
			if _, err := in.Peek(1); err != nil {
				return unexpected(err)
			}
		}
		piece, err := in.Peek(int(min(int64(in.Buffered()), length)))
		if err != nil {
			return unexpected(err)
		}
		a.take(piece, r)
		length -= int64(len(piece))
		_, _ = in.Discard(len(piece)) // they are there
	}
	return nil
}

// toTheEnd reads a body that ends with its connection.
func (a *answer) toTheEnd(in *bufio.Reader, r *engine.Result) error {
	for {
		_, err := in.Peek(1)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.body(in, int64(in.Buffered()), r); err != nil {
			return err
		}
	}
}

func (a *answer) take(piece []byte, r *engine.Result) {
	if room := maxBegin - len(a.begin); room > 0 {
		a.begin = append(a.begin, piece[:min(room, len(piece))]...)
	}
	if r != nil && r.Keep {
		held := r.Hold(piece)
		if len(r.Values) == 0 {
			r.Values = append(r.Values, engine.Blob(held))
			return
		}
		v := &r.Values[0]
		v.Data = append(v.Data[:len(v.Data):len(v.Data)], held...)
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
