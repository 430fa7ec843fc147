package remote

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// A frame is a kind, the number of the call it belongs to (0: the line itself), the length of its body, and the body.
type frame struct {
	kind kind
	call uint32
	body []byte
}

type kind byte

const (
	hello  kind = iota + 1 // who speaks: JSON, first in each direction
	beat                   // the client lives; the server sends it back as it came
	begin                  // a call: JSON, a request
	data                   // bytes for a call, or from it
	grant                  // so many more bytes of data may come: four bytes
	finish                 // no more data in this direction
	refuse                 // no more data is read in the other direction
	begun                  // a command that is talked to has started
	cancel                 // the caller's context ended
	result                 // the end of a call: JSON
	heard                  // the result of a command has arrived
)

const (
	header    = 1 + 4 + 4
	mostBytes = 16 << 20 // of a frame's body
	chunk     = 32 << 10 // of data in a frame, so that calls take turns
)

// sender writes whole frames, from any number of goroutines.
type sender struct {
	turn sync.Mutex
	to   *bufio.Writer
}

func newSender(to io.Writer) *sender { return &sender{to: bufio.NewWriterSize(to, header+chunk)} }

func (s *sender) send(f frame) error {
	if len(f.body) > mostBytes {
		return fmt.Errorf("a message of %d bytes, at most %d can be sent", len(f.body), mostBytes)
	}
	var head [header]byte
	head[0] = byte(f.kind)
	binary.BigEndian.PutUint32(head[1:], f.call)
	binary.BigEndian.PutUint32(head[5:], uint32(len(f.body)))
	s.turn.Lock()
	defer s.turn.Unlock()
	_, _ = s.to.Write(head[:]) // Flush says what went wrong
	_, _ = s.to.Write(f.body)
	return s.to.Flush()
}

// receive reads the next frame; io.EOF only between two of them.
func receive(from *bufio.Reader) (frame, error) {
	var head [header]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{kind: kind(head[0]), call: binary.BigEndian.Uint32(head[1:])}
	length := binary.BigEndian.Uint32(head[5:])
	if f.kind < hello || f.kind > heard || length > mostBytes {
		return frame{}, fmt.Errorf("a frame of kind %d with %d bytes: this is not the helper's protocol", f.kind, length)
	}
	f.body = make([]byte, length)
	if _, err := io.ReadFull(from, f.body); err != nil {
		return frame{}, fmt.Errorf("read a frame: %w", io.ErrUnexpectedEOF)
	}
	return f, nil
}
