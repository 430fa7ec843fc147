package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"plimsoll/engine"
)

// classes are what a status counts as.
var classes = map[int]engine.Class{
	http.StatusUnauthorized:        engine.Denied,
	http.StatusForbidden:           engine.Denied,
	http.StatusNotFound:            engine.Missing,
	http.StatusGone:                engine.Missing,
	http.StatusRequestTimeout:      engine.Timeout,
	http.StatusGatewayTimeout:      engine.Timeout,
	http.StatusConflict:            engine.Conflict,
	http.StatusPreconditionFailed:  engine.Conflict,
	http.StatusLocked:              engine.LockTimeout,
	http.StatusTooManyRequests:     engine.Overloaded,
	http.StatusBadGateway:          engine.Unavailable,
	http.StatusServiceUnavailable:  engine.Unavailable,
	http.StatusInsufficientStorage: engine.Full,
}

// failed is the error of an answer that was not hoped for.
func (a *answer) failed() *engine.Error {
	kind, known := classes[a.status]
	if !known {
		kind = engine.Other
	}
	text := http.StatusText(a.status)
	if text == "" {
		text = "status"
	}
	if words := strings.Join(strings.Fields(strings.ToValidUTF8(string(a.begin), "")), " "); words != "" {
		text += ": " + words
	}
	return &engine.Error{Kind: kind, Code: strconv.Itoa(a.status), Text: text}
}

// broken is the error of a call whose connection failed under it.
func (s *session) broken(ctx context.Context, err error) *engine.Error {
	e := &engine.Error{Kind: engine.Unavailable, Lost: true, Err: err}
	switch {
	case ctx.Err() != nil:
		return engine.Ended(ctx, true)
	case s.cut.Load():
		e.Kind, e.Text = engine.Timeout, "interrupted"
	case errors.Is(err, errAnswer):
		e.Kind, e.Text = engine.Other, "the server sent "+err.Error()
	case engine.HungUp(err):
		e.Text = "the server closed the connection"
	default:
		e.Text = "connection: " + err.Error()
	}
	return e
}
