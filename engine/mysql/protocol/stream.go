// Package protocol is the lowest part of the client/server protocol: packets on a connection, what is in them, and proofs of identity.
package protocol

import (
	"errors"
	"fmt"
	"net"
)

// First bytes of an answer.
const (
	MarkOK     = 0x00
	MarkMore   = 0x01 // more data for authentication
	MarkInfile = 0xfb // the server asks for a local file
	MarkEOF    = 0xfe // end of rows; during authentication: another method
	MarkError  = 0xff
)

// MaxPayload is the length at which a packet goes on in the next one.
const MaxPayload = 1<<24 - 1

// ErrOrder is a packet out of its order.
var ErrOrder = errors.New("a packet out of its order")

// Stream frames packets on a connection. Its two buffers are reused: in the steady state it allocates nothing.
type Stream struct {
	conn     net.Conn
	exchange exchanger

	Out []byte // the packet being built, its four header bytes first
	in  []byte // in[read:held] is received and not yet consumed
	read,
	held int
	large []byte // a packet that came in several parts
	Seq   uint8  // of the next packet, either way
}

// exchanger sends a request and returns the first bytes of what comes back; either may be empty.
type exchanger interface {
	exchange(request, reply []byte) (int, error)
}

const (
	startSize = 16 << 10
	keepSize  = 1 << 20 // a buffer that grew beyond this is given back after use
)

// NewStream uses the fastest way there is to exchange packets on a connection.
func NewStream(conn net.Conn) *Stream {
	return &Stream{conn: conn, exchange: fastest(conn), Out: make([]byte, 4, 1024), in: make([]byte, startSize)}
}

// plain is an exchanger that works everywhere.
type plain struct{ net.Conn }

func (p plain) exchange(request, reply []byte) (int, error) {
	if len(request) > 0 {
		if _, err := p.Write(request); err != nil {
			return 0, err
		}
	}
	if len(reply) == 0 {
		return 0, nil
	}
	return p.Read(reply)
}

// Begin starts a command; what follows is appended to s.Out.
func (s *Stream) Begin(command byte) {
	if cap(s.Out) > keepSize {
		s.Out = make([]byte, 4, 1024)
	}
	if len(s.in) > keepSize && s.read == s.held {
		s.in = make([]byte, startSize)
	}
	if cap(s.large) > keepSize {
		s.large = nil
	}
	s.Seq = 0
	s.Out = append(s.Out[:4], command)
}

// Send writes s.Out and waits for the first bytes of the answer.
func (s *Stream) Send() error {
	if s.read != s.held {
		return fmt.Errorf("%d bytes of an unexpected answer", s.held-s.read)
	}
	if err := s.frame(); err != nil {
		return err
	}
	n, err := s.exchange.exchange(s.Out, s.in)
	s.read, s.held = 0, max(n, 0)
	return err
}

// Post writes s.Out to which no answer comes.
func (s *Stream) Post() error {
	if err := s.frame(); err != nil {
		return err
	}
	_, err := s.exchange.exchange(s.Out, nil)
	return err
}

// frame writes the header of s.Out. Of a payload too long for one packet it sends all parts but the last, which it
// leaves in s.Out.
func (s *Stream) frame() error {
	for len(s.Out)-4 >= MaxPayload {
		s.header(MaxPayload)
		if _, err := s.exchange.exchange(s.Out[:4+MaxPayload], nil); err != nil {
			return err
		}
		rest := copy(s.Out[4:], s.Out[4+MaxPayload:])
		s.Out = s.Out[:4+rest]
	}
	s.header(len(s.Out) - 4)
	return nil
}

func (s *Stream) header(length int) {
	s.Out[0], s.Out[1], s.Out[2], s.Out[3] = byte(length), byte(length>>8), byte(length>>16), s.Seq
	s.Seq++
}

// Peek returns the length of the next packet's payload and its first byte, 0 if it is empty.
func (s *Stream) Peek() (length int, first byte, err error) {
	if err := s.need(4); err != nil {
		return 0, 0, err
	}
	h := s.in[s.read:]
	length = int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	if length == 0 {
		return 0, 0, s.ordered(0)
	}
	if err := s.need(5); err != nil {
		return 0, 0, err
	}
	first = s.in[s.read+4]
	return length, first, s.ordered(first)
}

// ordered checks the number of the packet at s.read. Only an error may be out of order: a server that shuts down, or
// throws an idle client out, says so before it was asked.
func (s *Stream) ordered(first byte) error {
	if s.in[s.read+3] == s.Seq || first == MarkError {
		return nil
	}
	return ErrOrder
}

// Packet returns the next packet's payload, valid until the next call.
func (s *Stream) Packet() ([]byte, error) {
	length, _, err := s.Peek()
	if err != nil {
		return nil, err
	}
	if length == MaxPayload {
		return s.parts()
	}
	return s.part(length)
}

func (s *Stream) part(length int) ([]byte, error) {
	if err := s.need(4 + length); err != nil {
		return nil, err
	}
	payload := s.in[s.read+4 : s.read+4+length]
	s.read += 4 + length
	s.Seq++
	return payload, nil
}

func (s *Stream) parts() ([]byte, error) {
	s.large = s.large[:0]
	for {
		length, _, err := s.Peek()
		if err != nil {
			return nil, err
		}
		part, err := s.part(length)
		if err != nil {
			return nil, err
		}
		s.large = append(s.large, part...)
		if length < MaxPayload {
			return s.large, nil
		}
	}
}

// Skip drops the next packet without holding it whole.
func (s *Stream) Skip() error {
	for {
		length, _, err := s.Peek()
		if err != nil {
			return err
		}
		s.Seq++
		for left := 4 + length; left > 0; {
			if s.read == s.held {
				if err := s.fill(); err != nil {
					return err
				}
			}
			n := min(left, s.held-s.read)
			s.read += n
			left -= n
		}
		if length < MaxPayload {
			return nil
		}
	}
}

// need makes sure that n bytes lie in one piece at s.read.
func (s *Stream) need(n int) error {
	for s.held-s.read < n {
		if s.read > 0 && s.read+n > len(s.in) {
			s.held = copy(s.in, s.in[s.read:s.held])
			s.read = 0
		}
		if n > len(s.in) {
			larger := make([]byte, max(n, 2*len(s.in)))
			s.held = copy(larger, s.in[s.read:s.held])
			s.in, s.read = larger, 0
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
	return nil
}

// Discard forgets what was received and not consumed.
func (s *Stream) Discard() { s.read, s.held = 0, 0 }

func (s *Stream) fill() error {
	if s.read == s.held {
		s.read, s.held = 0, 0
	}
	n, err := s.exchange.exchange(nil, s.in[s.held:])
	s.held += max(n, 0)
	return err
}
