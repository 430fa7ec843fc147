// Package collect reads instances over their own protocols, at little cost to them: at most two connections each, a limit on the
// server for every query, and a breaker that stops asking a server that is slow to answer or in distress, and then looks whether it still is.
//
// What an instance has is found out by asking it once, never by its version.
package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// Dial opens one connection to an instance.
type Dial func(context.Context) (engine.Session, error)

// link is one connection, opened when it is needed and again when it was lost. It is used by one goroutine.
type link struct {
	dial    Dial
	greet   func(context.Context, *link) error // says what must hold for the connection
	session engine.Session
	meter   *meter
	number  string // the server's number for the connection
	result  engine.Result
	asks    *questions // that were asked over it; nil: nobody wants to know
	denied  bool       // a question was, for want of a grant
	touched time.Time  // when an instance that is not polled last answered
}

// open makes sure that there is a connection.
func (l *link) open(ctx context.Context) error {
	if l.session != nil {
		return nil
	}
	s, err := l.dial(ctx)
	if err != nil {
		return err
	}
	l.session = s
	if err := l.greet(ctx, l); err != nil {
		_ = l.close() // what is wrong with it is told
		return err
	}
	return nil
}

func (l *link) close() error {
	l.result = engine.Result{} // what was read last may be large
	if l.session == nil {
		return nil
	}
	err := l.session.Close()
	l.session, l.number = nil, ""
	return err
}

// How often an instance that is not polled is asked whether it answers, and how long it may take.
const (
	contactEvery = 2 * time.Second
	contactLimit = 3 * time.Second
)

// contact asks an instance that is not polled for a while whether it answers, so that one that dies meanwhile is noticed as soon as another.
// The question says nothing about how slow it is, and does not count as a query of ours.
func (l *link) contact(ctx context.Context, now time.Time, question string, b *breaker) (watch.Asked, error) {
	if now.Before(l.touched.Add(contactEvery)) {
		return watch.Nothing, nil
	}
	ctx, cancel := context.WithTimeout(ctx, contactLimit)
	defer cancel()
	err := l.open(ctx)
	if err == nil {
		if err = l.do(ctx, question); lost(err) {
			_ = l.close() // it is gone
		} else {
			err = nil // it refused the question, and so it answers
		}
	}
	if err != nil {
		b.resume()
		return watch.Contact, err
	}
	l.touched = now
	return watch.Contact, nil
}

// rows asks for rows, which are valid until the next call.
func (l *link) rows(ctx context.Context, text string) (*engine.Result, error) {
	l.asks.note(text)
	l.result.Keep = true
	err := l.timed(func() error {
		if l.session == nil {
			return errGone
		}
		return l.session.Exec(ctx, text, &l.result)
	})
	return &l.result, err
}

// table asks for rows by the names of their columns; NULL is left out.
func (l *link) table(ctx context.Context, text string) (rows []map[string]string, err error) {
	l.asks.note(text)
	return l.foreign(ctx, text)
}

// foreign is table for a text that is not the watch's own.
func (l *link) foreign(ctx context.Context, text string) (rows []map[string]string, err error) {
	if l.session == nil {
		return nil, errGone
	}
	tabular, ok := l.session.(engine.Tabular)
	if !ok {
		return nil, errors.New("this engine's sessions do not name their columns")
	}
	err = l.timed(func() error {
		rows, err = tabular.Table(ctx, text)
		return err
	})
	return rows, err
}

// do runs a statement without rows.
func (l *link) do(ctx context.Context, text string) error {
	if l.session == nil {
		return errGone
	}
	return l.session.Exec(ctx, text, nil)
}

// errGone is the answer to a question over a connection that an earlier one of the same visit has lost.
var errGone = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "the connection was lost"}

func (l *link) timed(ask func() error) error {
	begun := time.Now()
	err := ask()
	l.meter.took(time.Since(begun))
	l.denied = l.denied || engine.ClassOf(err) == engine.Denied
	if lost(err) {
		_ = l.close() // it is gone
	}
	return err
}

// refusal marks the error of a visit where the server answered that the account may not log in, or not read what every visit reads. A socket
// that this machine does not let us open says nothing of the server behind it.
func refusal(err error) error {
	if engine.ClassOf(err) != engine.Denied || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("%w: %w", watch.ErrRefused, err)
}

// lost tells whether an error cost the connection.
func lost(err error) bool {
	var e *engine.Error
	return err != nil && (!errors.As(err, &e) || e.Lost)
}
