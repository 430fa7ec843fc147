package cql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// said is an answer of a server's.
type said struct {
	code int
	text string
}

func (s said) Code() int       { return s.code }
func (s said) Message() string { return s.text }
func (s said) Error() string   { return s.text }

func TestErrorsAreClassified(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind engine.Class
		lost bool
	}{
		{said{gocql.ErrCodeUnavailable, "Cannot achieve consistency level"}, engine.Unavailable, false},
		{said{gocql.ErrCodeReadTimeout, "Operation timed out"}, engine.Timeout, false},
		{said{gocql.ErrCodeWriteTimeout, "Operation timed out"}, engine.Timeout, false},
		{said{gocql.ErrCodeOverloaded, "Request breached global limit"}, engine.Overloaded, false},
		{said{gocql.ErrCodeBootstrapping, ""}, engine.Unavailable, false},
		{said{gocql.ErrCodeCredentials, "Provided username x and/or password are incorrect"}, engine.Denied, true},
		{said{gocql.ErrCodeUnauthorized, "User x has no SELECT permission"}, engine.Denied, false},
		{said{gocql.ErrCodeAlreadyExists, "Cannot add existing table"}, engine.Duplicate, false},
		{said{gocql.ErrCodeInvalid, "table no_such_table does not exist"}, engine.Missing, false},
		{said{gocql.ErrCodeInvalid, "Undefined column name x"}, engine.Missing, false},
		{said{gocql.ErrCodeInvalid, "Invalid null value for y_id"}, engine.Other, false},
		{said{gocql.ErrCodeSyntax, "line 1:0 no viable alternative"}, engine.Other, false},
		{said{gocql.ErrCodeCASWriteUnknown, ""}, engine.Conflict, false},
		{gocql.ErrNoConnections, engine.Unavailable, true},
		{gocql.ErrConnectionClosed, engine.Unavailable, true},
		{fmt.Errorf("read: %w", io.EOF), engine.Unavailable, true},
		{&net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}, engine.Unavailable, true},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}, engine.Unavailable, true},
		{gocql.ErrTimeoutNoResponse, engine.Timeout, false},
		{context.DeadlineExceeded, engine.Timeout, false},
		{fmt.Errorf("read: %w", context.Canceled), engine.Unavailable, true}, // by the driver; callers look at their own context first
		{gocql.ErrNoStreams, engine.Overloaded, false},
		{errors.New("gocql: expected 1 values send got 0"), engine.Other, false},
		{&engine.Error{Kind: engine.Full}, engine.Full, false},
	} {
		if e := classify(c.err); e.Kind != c.kind || e.Lost != c.lost {
			t.Errorf("%v: class %s, lost %v, want %s, %v", c.err, e.Kind, e.Lost, c.kind, c.lost)
		}
	}
}

func TestUnreachableSaysWhatToLookAt(t *testing.T) {
	for says, err := range map[string]error{
		"nothing listens at db:9042":                    &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"no host of the name db":                        &net.DNSError{Name: "db", IsNotFound: true},
		"no answer from db:9042 in time":                os.ErrDeadlineExceeded,
		"db:9042 closed the connection before":          io.EOF,
		"db:9042 requires a user and a password":        errors.New(`authentication required (using "org.apache.cassandra.auth.PasswordAuthenticator")`),
		"Provided username x and/or password are wrong": said{gocql.ErrCodeCredentials, "Provided username x and/or password are wrong"},
	} {
		if e := unreachable("db:9042", err); !strings.Contains(e.Error(), says) || !e.Lost {
			t.Errorf("%v: %v, want %q", err, e, says)
		}
	}
}
