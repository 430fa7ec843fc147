package httpapi

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/engine"
)

// session is one connection that is kept alive. One that the service closes between two requests is opened anew, within the
// time of the next request; one that breaks under a request is lost.
type session struct {
	target target
	head   []byte // the headers of every request

	in   *bufio.Reader
	conn net.Conn  // nil: closed by the service, in order
	used time.Time // when the last answer was whole
	out  []byte
	body []byte // of the request, before it goes to out

	answer  answer
	ignored engine.Result

	interrupter engine.Interrupter
	cut         atomic.Bool   // Interrupt was called
	lost        *engine.Error // the connection is gone

	mu        sync.Mutex
	transport net.Conn // beneath TLS
	stop      func()   // ends the attempt to connect that is under way
}

var _ engine.Session = (*session)(nil)

// idle is after how long without a request the service may have hung up meanwhile. It is looked for then.
const idle = time.Second

const bufferSize = 16 << 10

func newSession(t target) *session {
	s := &session{target: t, in: bufio.NewReaderSize(nil, bufferSize)}
	s.interrupter.Cut = s.Interrupt
	s.head = append(s.head, "Host: "+t.host()+"\r\nUser-Agent: plimsoll\r\nAccept: */*\r\n"...)
	if t.authorization != "" {
		s.head = append(s.head, "Authorization: "+t.authorization+"\r\n"...)
	}
	return s
}

// Prepare reads a request; the service hears of it when it is executed.
func (s *session) Prepare(_ context.Context, text string) (engine.Statement, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return nil, err
	}
	return &statement{s, t}, nil
}

// Exec sends a request without parameters.
func (s *session) Exec(ctx context.Context, text string, r *engine.Result) error {
	t, err := parseTemplate(text)
	if err != nil {
		return err
	}
	return s.exec(ctx, t, nil, r)
}

type statement struct {
	session *session
	request *template
}

// Exec sends the request. What it returns is one row of one column, the answer's body, if there is one.
func (p *statement) Exec(ctx context.Context, args []engine.Value, r *engine.Result) error {
	return p.session.exec(ctx, p.request, args, r)
}

func (s *session) exec(ctx context.Context, t *template, args []engine.Value, r *engine.Result) error {
	if len(args) != t.params {
		return fmt.Errorf("a request with %d parameters was given %d", t.params, len(args))
	}
	if r == nil {
		r = &s.ignored
	}
	r.Reset()
	if s.lost != nil {
		return s.lost
	}
	if err := s.write(t, args); err != nil {
		return err
	}
	switch s.interrupter.Enter(ctx) {
	case engine.TooLate:
		return engine.Ended(ctx, false) // nothing was sent: the session is as good as before
	case engine.CutOff:
		return s.leave(ctx, context.Cause(ctx))
	}
	return s.leave(ctx, s.ask(ctx, t, r))
}

// ask sends the request that was written and reads the answer.
func (s *session) ask(ctx context.Context, t *template, r *engine.Result) error {
	if s.conn != nil && time.Since(s.used) > idle && s.stale() {
		s.hangUp()
	}
	if s.conn == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	if _, err := s.conn.Write(s.out); err != nil {
		return err
	}
	if err := s.answer.read(s.in, t.method, r); err != nil {
		return err
	}
	s.used = time.Now()
	if s.answer.close {
		s.hangUp()
	}
	if !t.success(s.answer.status) {
		return s.answer.failed()
	}
	if len(s.answer.begin) > 0 {
		r.Rows, r.Columns = 1, 1
	}
	return nil
}

// leave ends a call that had this outcome. An error that is not the service's own ends the connection.
func (s *session) leave(ctx context.Context, err error) error {
	s.interrupter.Leave(ctx)
	if err == nil {
		return nil
	}
	var e *engine.Error
	if errors.As(err, &e) && !e.Lost && !s.cut.Load() {
		return err
	}
	if e == nil || s.cut.Load() {
		e = s.broken(ctx, err)
	}
	s.lost = e
	s.hangUp()
	return e
}

// write puts a request into words.
func (s *session) write(t *template, args []engine.Value) (err error) {
	b := append(append(s.out[:0], t.method...), ' ')
	b = append(b, s.target.base...)
	if b, args, err = appendAll(b, t.path, args); err != nil {
		return err
	}
	b = append(append(b, " HTTP/1.1\r\n"...), s.head...)
	if b, args, err = appendAll(b, t.headers, args); err != nil {
		return err
	}
	if s.body, _, err = appendAll(s.body[:0], t.body, args); err != nil {
		return err
	}
	if len(s.body) > 0 || t.method != "GET" && t.method != "HEAD" {
		b = strconv.AppendInt(append(b, "Content-Length: "...), int64(len(s.body)), 10)
		b = append(b, "\r\n"...)
	}
	s.out = append(append(b, "\r\n"...), s.body...)
	return nil
}

func appendAll(b []byte, parts []part, args []engine.Value) ([]byte, []engine.Value, error) {
	for _, p := range parts {
		var err error
		if b, err = appendPart(b, p, args); err != nil {
			return b, args, err
		}
		if p.place != nowhere {
			args = args[1:]
		}
	}
	return b, args, nil
}

// dial opens the connection for the first time.
func (s *session) dial(ctx context.Context) error {
	err := s.connect(ctx)
	if err == nil {
		return nil
	}
	return s.broken(ctx, err)
}

func (s *session) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.target.Timeout)
	defer cancel()
	s.mu.Lock()
	s.stop = cancel
	s.mu.Unlock()
	network := "tcp"
	if isSocketPath(s.target.Addresses[0]) {
		network = "unix"
	}
	var d net.Dialer
	transport, err := d.DialContext(ctx, network, s.target.Addresses[0])
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.transport = transport
	s.mu.Unlock()
	if s.cut.Load() { // while there was nothing to close yet
		_ = transport.Close()
	}
	s.conn = transport
	if s.target.encryption != nil {
		encrypted := tls.Client(transport, s.target.encryption)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			_ = transport.Close()
			return err
		}
		s.conn = encrypted
	}
	s.in.Reset(s.conn)
	return nil
}

// stale tells whether the service has closed the connection, or said what was not asked: then too it is of no use.
func (s *session) stale() bool {
	const look = 100 * time.Microsecond
	var one [1]byte
	if s.in.Buffered() > 0 || s.transport.SetReadDeadline(time.Now().Add(look)) != nil {
		return true
	}
	_, err := s.transport.Read(one[:])
	var silent net.Error
	return !errors.As(err, &silent) || !silent.Timeout() || s.transport.SetReadDeadline(time.Time{}) != nil
}

// hangUp closes the connection, if there is one.
func (s *session) hangUp() {
	if s.conn != nil {
		_ = s.transport.Close()
		s.conn = nil
	}
}

// Interrupt closes the connection under a call that is under way.
func (s *session) Interrupt() {
	s.cut.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
	if s.transport != nil {
		_ = s.transport.Close()
	}
}

func (s *session) Close() error {
	s.interrupter.Stop()
	s.lost = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "the session is closed"}
	s.hangUp()
	return nil
}
