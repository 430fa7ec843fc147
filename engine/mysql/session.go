package mysql

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

// session is one connection.
type session struct {
	*protocol.Stream
	transport net.Conn // beneath TLS
	id        uint32   // the server's number for it

	deprecateEOF, cacheMetadata bool
	roams                       bool // it was opened where writes are taken: where they are not any more, it ends

	ignored engine.Result // for callers that want none
	text    []column      // of the last plain query, for their memory
	named   bool          // names are wanted
	names   []string      // of the columns of the last plain query

	interrupter engine.Interrupter
	cut         atomic.Bool   // Interrupt was called
	lost        *engine.Error // the connection is gone
}

var _ engine.Session = (*session)(nil)

func newSession(w *protocol.Stream, transport net.Conn) *session {
	s := &session{Stream: w, transport: transport}
	s.interrupter.Cut = s.Interrupt
	return s
}

func (s *session) Prepare(ctx context.Context, text string) (engine.Statement, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	s.Begin(comStmtPrepare)
	s.Out = append(s.Out, text...)
	p, err := s.prepared()
	if err := s.leave(ctx, err); err != nil {
		return nil, err
	}
	return p, nil
}

func (s *session) prepared() (*statement, error) {
	if err := s.Send(); err != nil {
		return nil, err
	}
	packet, err := s.Packet()
	if err != nil {
		return nil, err
	}
	c := protocol.Cursor{Rest: packet}
	switch c.Uint8() {
	case protocol.MarkOK:
	case protocol.MarkError:
		return nil, serverError(packet)
	default:
		return nil, errMalformed
	}
	p := &statement{session: s, id: c.Uint32()}
	columns, parameters := int(c.Uint16()), int(c.Uint16())
	if c.Short {
		return nil, errMalformed
	}
	p.types = make([]columnType, parameters)
	for i := range p.types {
		p.types[i] = typeVarString
	}
	if parameters > 0 {
		if _, err = s.columns(nil, parameters); err != nil {
			return nil, err
		}
		if err := s.endOfColumns(); err != nil {
			return nil, err
		}
	}
	if columns > 0 {
		if p.columns, err = s.columns(nil, columns); err != nil {
			return nil, err
		}
		if err := s.endOfColumns(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// endOfColumns drops the EOF packet that older servers send after columns.
func (s *session) endOfColumns() error {
	if s.deprecateEOF {
		return nil
	}
	return s.Skip()
}

func (s *session) Exec(ctx context.Context, text string, r *engine.Result) error {
	if r == nil {
		r = &s.ignored
	}
	r.Reset()
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.Begin(comQuery)
	s.Out = append(s.Out, text...)
	err := s.Send()
	if err == nil {
		s.text, err = s.answer(r, s.text, textRow)
	}
	return s.leave(ctx, err)
}

// Interrupt closes the connection under a call that is under way.
func (s *session) Interrupt() {
	s.cut.Store(true)
	_ = s.transport.Close()
}

func (s *session) Close() error {
	s.interrupter.Stop()
	if s.lost == nil && !s.cut.Load() {
		s.Begin(comQuit)
		_ = s.Post() // the server hangs up by itself if this does not reach it
	}
	s.lost = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "the session is closed"}
	return s.transport.Close()
}

// enter begins a call. Every enter that returned nil is followed by leave.
func (s *session) enter(ctx context.Context) error {
	if s.lost != nil {
		return s.lost
	}
	switch s.interrupter.Enter(ctx) {
	case engine.TooLate:
		return engine.Ended(ctx, false) // nothing was sent: the session is as good as before
	case engine.CutOff:
		return s.leave(ctx, context.Cause(ctx))
	}
	return nil
}

// leave ends a call that had this outcome. An error that is not the server's own leaves the connection in an unknown
// state, which ends it.
func (s *session) leave(ctx context.Context, err error) error {
	s.interrupter.Leave(ctx)
	if err == nil {
		return nil
	}
	var e *engine.Error
	if errors.As(err, &e) && !e.Lost {
		if !s.roams || !demoted(e) {
			return err
		}
		e.Lost = true
	}
	if e == nil {
		e = s.broken(ctx, err)
	}
	s.lost = e
	_ = s.transport.Close() // it is no use any more
	return e
}
