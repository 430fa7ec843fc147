package engine

import "errors"

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
	Full        Class = "full"    // no room on disk or in memory
	Other       Class = "other"
)

// Error is what a database answered, or the loss of it.
type Error struct {
	Kind Class
	Lost bool   // the connection is gone
	Code string // the engine's own, for example 1213
	Text string
	Err  error // beneath it, if any
}

func (e *Error) Error() string {
	if e.Code != "" {
		return e.Text + " (" + e.Code + ")"
	}
	return e.Text
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

// NeedsRestart says that a setting cannot be changed while the server runs.
type NeedsRestart struct{ Setting string }

func (e *NeedsRestart) Error() string { return e.Setting + " takes effect only after a restart" }
