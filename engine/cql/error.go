package cql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// classify makes an error of the driver's: what the server answered, or how it could not be asked.
func classify(err error) *engine.Error {
	var known *engine.Error
	var answered gocql.RequestError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &answered):
		return answer(answered)
	}
	return unanswered(err)
}

// answer sorts the protocol's error codes: https://cassandra.apache.org/doc/latest/cassandra/reference/native-protocol.html.
func answer(err gocql.RequestError) *engine.Error {
	e := &engine.Error{Kind: engine.Other, Code: fmt.Sprintf("0x%04X", err.Code()), Text: err.Message(), Err: err}
	switch err.Code() {
	case gocql.ErrCodeUnavailable, gocql.ErrCodeBootstrapping:
		e.Kind = engine.Unavailable
	case gocql.ErrCodeReadFailure, gocql.ErrCodeWriteFailure, gocql.ErrCodeCDCWriteFailure:
		e.Kind = engine.Unavailable // replicas answered that they could not
	case gocql.ErrCodeReadTimeout, gocql.ErrCodeWriteTimeout, gocql.ErrCodeTruncate:
		e.Kind = engine.Timeout
	case gocql.ErrCodeCASWriteUnknown:
		e.Kind = engine.Conflict
	case gocql.ErrCodeOverloaded:
		e.Kind = engine.Overloaded
	case gocql.ErrCodeCredentials:
		e.Kind, e.Lost = engine.Denied, true
	case gocql.ErrCodeUnauthorized:
		e.Kind = engine.Denied
	case gocql.ErrCodeAlreadyExists:
		e.Kind = engine.Duplicate
	case gocql.ErrCodeInvalid, gocql.ErrCodeConfig:
		if isMissing(e.Text) {
			e.Kind = engine.Missing
		}
	}
	detail(e, err)
	return e
}

// detail adds what the error's text does not say.
func detail(e *engine.Error, err gocql.RequestError) {
	switch f := err.(type) {
	case *gocql.RequestErrUnavailable:
		e.Text = fmt.Sprintf("%s needs %d replicas, and %d are alive", f.Consistency, f.Required, f.Alive)
	case *gocql.RequestErrReadTimeout:
		e.Text = fmt.Sprintf("read at %s: %d of %d replicas answered within the server's timeout", f.Consistency, f.Received, f.BlockFor)
	case *gocql.RequestErrWriteTimeout:
		e.Text = fmt.Sprintf("write at %s: %d of %d replicas answered within the server's timeout; it may have been applied",
			f.Consistency, f.Received, f.BlockFor)
	}
}

// isMissing tells the errors about what is not there among the many that have the code of an invalid query. It reads the server's text: the
// protocol has one code for all of them, and sends nothing but the text with it.
func isMissing(text string) bool {
	text = strings.ToLower(text)
	for _, mark := range []string{"does not exist", "doesn't exist", "unconfigured table", "undefined column name", "unknown keyspace",
		"keyspace not found", "cannot be found", "not found in table", "no keyspace has been specified"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// unanswered is the error of a request that got no answer, in words that tell what to look at.
func unanswered(err error) *engine.Error {
	e := &engine.Error{Kind: engine.Unavailable, Lost: true, Err: err}
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, gocql.ErrTimeoutNoResponse):
		e.Kind, e.Lost, e.Text = engine.Timeout, false, "no answer in time"
	case errors.Is(err, context.Canceled): // not by the caller, which is looked at first: the driver ended the connection's context
		e.Text = "the connection was closed"
	case errors.Is(err, gocql.ErrNoStreams):
		e.Kind, e.Lost, e.Text = engine.Overloaded, false, "all streams of the connections are in use"
	case errors.Is(err, gocql.ErrNoConnections):
		e.Text = "no node can be reached"
	case errors.Is(err, gocql.ErrSessionClosed):
		e.Text = "the database is closed"
	case errors.Is(err, gocql.ErrConnectionClosed), hungUp(err):
		e.Text = "the server closed the connection"
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Text = "no answer in time"
	case isNetwork(err):
		e.Text = "connection: " + err.Error()
	default:
		e.Kind, e.Lost, e.Text = engine.Other, false, err.Error()
	}
	return e
}

// hungUp tells whether a connection was closed, by the other side or, as the driver does with one that failed, by ours.
func hungUp(err error) bool { return engine.HungUp(err) || errors.Is(err, net.ErrClosed) }

func isNetwork(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation)
}

// unreachable is the error of an address to which no connection could be made.
func unreachable(address string, err error) *engine.Error {
	e := &engine.Error{Kind: engine.Unavailable, Lost: true, Err: err}
	var name *net.DNSError
	var timeout net.Error
	var answered gocql.RequestError
	switch {
	case errors.As(err, &answered):
		e = answer(answered)
		e.Lost = true
	case errors.As(err, &name) && name.IsNotFound:
		e.Text = "no host of the name " + name.Name
	case strings.Contains(err.Error(), "authentication required"):
		e.Kind, e.Text = engine.Denied, address+" requires a user and a password"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Text = "nothing listens at " + address + ": check that the server is running, and on that port"
	case hungUp(err):
		e.Text = address + " closed the connection before the login"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout(),
		errors.Is(err, gocql.ErrTimeoutNoResponse):
		e.Text = "no answer from " + address + " in time: check for a firewall in between, or a frozen server"
	default:
		e.Text = address + ": " + err.Error()
	}
	return e
}
