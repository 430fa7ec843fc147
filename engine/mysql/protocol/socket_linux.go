package protocol

import (
	"io"
	"net"
	"syscall"
	"time"
	"unsafe"
)

// socket exchanges over a TCP or Unix socket with two system calls a round trip.
//
// net.Conn needs three: its Read first tries in vain, because the answer is never there right after the request, and
// only then parks the goroutine. Here the request is written from within RawConn.Read's callback, when the poller has
// already forgotten earlier readiness; returning false parks at once, and the callback runs again when the answer's
// edge arrives. The calls never block, so they are made raw, without telling the scheduler.
type socket struct {
	conn           net.Conn
	raw            syscall.RawConn
	step           func(fd uintptr) bool // s.advance, bound once because binding allocates
	request, reply []byte
	sent           bool
	written, got   int
	errno          syscall.Errno
	answered       time.Time // when the last answer came
}

// idle is the time without a question after which the server may have ended the connection: what arrived meanwhile is looked for
// before the next one, because the poller forgets it. A proxy that passes on the server's end and still listens to us would else
// let us wait for an answer for ever.
const idle = time.Millisecond

// fastest returns the best exchanger for a connection.
func fastest(conn net.Conn) exchanger {
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			s := &socket{conn: conn, raw: raw}
			s.step = s.advance
			return s
		}
	}
	return plain{conn}
}

func (s *socket) exchange(request, reply []byte) (int, error) {
	if len(reply) == 0 {
		_, err := s.conn.Write(request)
		return 0, err
	}
	s.request, s.reply = request, reply
	s.sent, s.written, s.got, s.errno = len(request) == 0, 0, 0, 0
	err := s.raw.Read(s.step)
	switch {
	case err != nil:
		return 0, err
	case s.errno != 0:
		return 0, s.errno
	case !s.sent: // the socket's buffer is full: let the runtime wait for room
		if _, err := s.conn.Write(request[s.written:]); err != nil {
			return 0, err
		}
		return s.exchange(nil, reply)
	case s.got == 0:
		return 0, io.ErrUnexpectedEOF
	}
	s.answered = time.Now()
	return s.got, nil
}

// advance is the callback: true ends the exchange, false waits until the socket can be read.
func (s *socket) advance(fd uintptr) bool {
	if !s.sent {
		waiting := false
		if time.Since(s.answered) > idle {
			n, errno := transfer(syscall.SYS_RECVFROM, fd, s.reply[:1], syscall.MSG_PEEK)
			if waiting = errno == 0; waiting && n == 0 { // the server has ended the connection
				s.sent = true
				return true
			}
		}
		n, errno := transfer(syscall.SYS_SENDTO, fd, s.request, syscall.MSG_NOSIGNAL)
		s.written = n
		if errno == syscall.EAGAIN {
			return true
		}
		s.errno, s.sent = errno, n == len(s.request)
		if !s.sent || !waiting {
			return !s.sent
		}
	}
	n, errno := transfer(syscall.SYS_RECVFROM, fd, s.reply, 0)
	if errno == syscall.EAGAIN {
		return false
	}
	s.got, s.errno = n, errno
	return true
}

// transfer sends or receives without blocking; the descriptor is non-blocking already.
func transfer(call, fd uintptr, b []byte, flags uintptr) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(call, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return 0, errno
		}
		return int(n), 0
	}
}
