package engine

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// Class is how an error is counted and whether it is worth another try.
type Class string

const (
	Deadlock    Class = "deadlock" // chosen as victim; the transaction is gone, try it again
	LockTimeout Class = "lock_timeout"
	Conflict    Class = "conflict" // changed by another since it was read
	Duplicate   Class = "duplicate"
	Timeout     Class = "timeout"
	Overloaded  Class = "overloaded"  // too many connections, shed by the server
	Unavailable Class = "unavailable" // refused, reset, gone away, shutting down, too few replicas
	ReadOnly    Class = "read_only"
	Denied      Class = "denied"  // wrong password, missing privilege
	Missing     Class = "missing" // no such database, table, column, variable
	Invalid     Class = "invalid" // a statement that the server does not understand
	Full        Class = "full"    // no room on disk or in memory
	Other       Class = "other"
)

// Error is an error that a database answered with, or the loss of the connection to it.
type Error struct {
	Kind Class
	Lost bool   // the connection is gone
	Code string // the engine's own, for example 1213
	Text string
	Err  error  // beneath it, if any
	Do   string // about it, where the engine knows better than its class tells
	// Instead is, of a change of a table that cannot be made as it was asked for, the clause with which the server makes it: ALGORITHM=COPY.
	Instead string
}

func (e *Error) Error() string {
	if e.Code != "" {
		return e.Text + " (" + e.Code + ")"
	}
	return e.Text
}

// Hint says what to look at, where the class alone tells; empty where it does not.
func (e *Error) Hint() string {
	if e.Do != "" {
		return e.Do
	}
	switch e.Kind {
	case Full:
		return "the server's disk is full, or the server has reached its memory limit: free some disk space or memory, or use less"
	case Overloaded:
		return "use fewer connections, or raise the server's limit"
	case ReadOnly:
		return "this node accepts no writes: it is a replica or read-only; use the primary"
	case Denied:
		return "check the account, its password and its privileges: user and password of the cluster in plimsoll.yaml, or with --target mysql://USER@… that USER and --password-env NAME"
	}
	return ""
}

func (e *Error) Unwrap() error        { return e.Err }
func (e *Error) Class() string        { return string(e.Kind) }
func (e *Error) ConnectionLost() bool { return e.Lost }

// ClassOf returns the class of an error, Other for one that is not of a database.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Other
}

// CodeOf returns the engine's own code of an error, for example 1213; "" for one that has none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// RefusesLogin tells whether a server answered an error because it does not let the account log in, as those that speak MySQL's protocol say:
// no grant would mend that.
func RefusesLogin(err error) bool { return ClassOf(err) == Denied && CodeOf(err) == "1045" }

// NeedsRestart says that a setting cannot be changed while the server runs.
type NeedsRestart struct{ Setting string }

func (e *NeedsRestart) Error() string { return e.Setting + " takes effect only after a restart" }

// Unshown says that a setting may well be in force, and that the server does not show it.
type Unshown struct{ Setting string }

func (e *Unshown) Error() string { return "the server does not show " + e.Setting }

// Ended is the error of a call whose context ended; lost tells whether that cost the connection.
func Ended(ctx context.Context, lost bool) *Error {
	cause := context.Cause(ctx)
	e := &Error{Kind: Other, Lost: lost, Text: cause.Error(), Err: cause}
	if errors.Is(cause, context.DeadlineExceeded) {
		e.Kind, e.Text = Timeout, "no answer in time"
	}
	return e
}

// HungUp tells whether a connection failed because the other side closed it.
func HungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
