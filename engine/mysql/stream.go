package mysql

import (
	"fmt"
	"net"
)

// stream frames packets on a connection. Its two buffers are reused: in the steady state it allocates nothing.
type stream struct {
	conn     net.Conn
	exchange exchanger

	out []byte // the packet being built, its four header bytes first
	in  []byte // in[read:held] is received and not yet consumed
	read,
	held int
	large []byte // a packet that came in several parts
	seq   uint8  // of the next packet, either way
}

// exchanger sends a request and returns the first bytes of what comes back; either may be empty.
type exchanger interface {
	exchange(request, reply []byte) (int, error)
}

const (
	startSize = 16 << 10
	keepSize  = 1 << 20 // a buffer that grew beyond this is given back after use
)

func newStream(conn net.Conn) *stream {
	return &stream{conn: conn, exchange: fastest(conn), out: make([]byte, 4, 1024), in: make([]byte, startSize)}
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

// begin starts a command; what follows is appended to s.out.
func (s *stream) begin(command byte) {
	if cap(s.out) > keepSize {
		s.out = make([]byte, 4, 1024)
	}
	if len(s.in) > keepSize && s.read == s.held {
		s.in = make([]byte, startSize)
	}
	if cap(s.large) > keepSize {
		s.large = nil
	}
	s.seq = 0
	s.out = append(s.out[:4], command)
}

// send writes s.out and waits for the first bytes of the answer.
func (s *stream) send() error {
	if s.read != s.held {
		return fmt.Errorf("%d bytes of an unexpected answer", s.held-s.read)
	}
	if err := s.frame(); err != nil {
		return err
	}
	n, err := s.exchange.exchange(s.out, s.in)
	s.read, s.held = 0, max(n, 0)
	return err
}

// post writes s.out to which no answer comes.
func (s *stream) post() error {
	if err := s.frame(); err != nil {
		return err
	}
	_, err := s.exchange.exchange(s.out, nil)
	return err
}

// frame writes the header of s.out. Of a payload too long for one packet it sends all parts but the last, which it
// leaves in s.out.
func (s *stream) frame() error {
	for len(s.out)-4 >= maxPayload {
		s.header(maxPayload)
		if _, err := s.exchange.exchange(s.out[:4+maxPayload], nil); err != nil {
			return err
		}
		rest := copy(s.out[4:], s.out[4+maxPayload:])
		s.out = s.out[:4+rest]
	}
	s.header(len(s.out) - 4)
	return nil
}

func (s *stream) header(length int) {
	s.out[0], s.out[1], s.out[2], s.out[3] = byte(length), byte(length>>8), byte(length>>16), s.seq
	s.seq++
}

// peek returns the length of the next packet's payload and its first byte, 0 if it is empty.
func (s *stream) peek() (length int, first byte, err error) {
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
func (s *stream) ordered(first byte) error {
	if s.in[s.read+3] == s.seq || first == markError {
		return nil
	}
	return errOrder
}

// packet returns the next packet's payload, valid until the next call.
func (s *stream) packet() ([]byte, error) {
	length, _, err := s.peek()
	if err != nil {
		return nil, err
	}
	if length == maxPayload {
		return s.parts()
	}
	return s.part(length)
}

func (s *stream) part(length int) ([]byte, error) {
	if err := s.need(4 + length); err != nil {
		return nil, err
	}
	payload := s.in[s.read+4 : s.read+4+length]
	s.read += 4 + length
	s.seq++
	return payload, nil
}

func (s *stream) parts() ([]byte, error) {
	s.large = s.large[:0]
	for {
		length, _, err := s.peek()
		if err != nil {
			return nil, err
		}
		part, err := s.part(length)
		if err != nil {
			return nil, err
		}
		s.large = append(s.large, part...)
		if length < maxPayload {
			return s.large, nil
		}
	}
}

// skip drops the next packet without holding it whole.
func (s *stream) skip() error {
	for {
		length, _, err := s.peek()
		if err != nil {
			return err
		}
		s.seq++
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
		if length < maxPayload {
			return nil
		}
	}
}

// need makes sure that n bytes lie in one piece at s.read.
func (s *stream) need(n int) error {
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

func (s *stream) fill() error {
	if s.read == s.held {
		s.read, s.held = 0, 0
	}
	n, err := s.exchange.exchange(nil, s.in[s.held:])
	s.held += max(n, 0)
	return err
}
