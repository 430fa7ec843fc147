package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
)

// ClaimLock is the lock by which a run keeps a server of a cluster without a primary (GET_LOCK).
const ClaimLock = "plimsoll.claim"

// OpensWithin is how long a server has to take writes after it was asked for its lock and its clock: less than a claim is held for.
const OpensWithin = 3 * time.Second

// StaysReadOnlyError says that a server was to take writes and surely refuses them still: no order to take them is under way.
type StaysReadOnlyError struct{ Err error }

func (e *StaysReadOnlyError) Error() string { return e.Err.Error() }

func (e *StaysReadOnlyError) Unwrap() error { return e.Err }

// AsStaysReadOnly makes of an order to take writes that was not given what it is: the server stays as it was.
func AsStaysReadOnly(err error) error {
	if not := (*NotGivenError)(nil); errors.As(err, &not) {
		return &StaysReadOnlyError{err}
	}
	return err
}

// Orders are how a server is asked and told.
type Orders struct {
	Name    string // of the server, for people
	Address string // where it is reached
	Value   func(ctx context.Context, query string) (string, error)
	Do      func(ctx context.Context, statements ...string) error
}

// Variable is a global variable of a server, and the literal that it is to have.
type Variable struct{ Name, Literal string }

// Open makes a server take writes that refuses them by read_only; on MySQL that takes super_read_only back too. One that takes them already is
// left as it is. The order is void if the lock of the cluster changes hands after it was asked for, or the time is over, when the server executes
// it: who sent it may be gone by then, and another server the primary. Any error but *StaysReadOnlyError leaves open whether it takes writes.
func Open(ctx context.Context, server Orders, within time.Duration) error {
	for range 3 { // our own connection, or that by which our run keeps the lock, may have been made anew meanwhile
		if opens, err := tryOpen(ctx, server, within); opens || err != nil {
			return err
		}
	}
	return &StaysReadOnlyError{fmt.Errorf("%s stays read-only: another connection took the lock %s before the server accepted writes, or that took longer than %s", server.Name, ClaimLock, within)}
}

func tryOpen(ctx context.Context, server Orders, within time.Duration) (opens bool, err error) {
	if opens, err := takesWrites(ctx, server); opens || err != nil {
		return opens, asReadOnly(err)
	}
	while, err := asItIs(ctx, server, within)
	if err != nil {
		return false, asReadOnly(err)
	}
	err = server.Do(ctx, while.set(Variable{"read_only", "0"}))
	switch code := engine.CodeOf(err); {
	case err == nil || code == Void:
	case code != "": // it answered, and did not do it
		return false, asReadOnly(err)
	default:
		return false, err
	}
	return takesWrites(ctx, server)
}

// Close sets the variables by which a server refuses writes, one after the other. This order too is void if it comes too late: the server may have
// become the primary meanwhile, and nobody would take writes.
func Close(ctx context.Context, server Orders, within time.Duration, variables ...Variable) error {
	for range 3 {
		while, err := asItIs(ctx, server, within)
		if err != nil {
			return err
		}
		var statements []string
		for _, v := range variables {
			statements = append(statements, while.set(v))
		}
		if err := server.Do(ctx, statements...); engine.CodeOf(err) != Void {
			return err
		}
	}
	return fmt.Errorf("%s was not made read-only: it did not execute the statement within %s, or another run has taken the cluster meanwhile", server.Name, within)
}

// asItWas is the state of a server's lock at the time of an order, and until when the order holds, by the server's clock.
type asItWas struct{ holder, until string }

func asItIs(ctx context.Context, server Orders, within time.Duration) (is asItWas, err error) {
	if is.holder, err = server.Value(ctx, LockHolder(ClaimLock)); err != nil {
		return is, err
	}
	if is.holder == "" {
		is.holder = "NULL"
	}
	is.until, err = server.Value(ctx, In(within))
	return is, err
}

func (w asItWas) set(v Variable) string {
	return SetGlobalWhile(ClaimLock, w.holder, w.until, v.Name, v.Literal)
}

// asReadOnly is an error before any order was given.
func asReadOnly(err error) error {
	if stays := (*StaysReadOnlyError)(nil); err == nil || errors.As(err, &stays) {
		return err
	}
	return &StaysReadOnlyError{err}
}

func takesWrites(ctx context.Context, server Orders) (bool, error) {
	is, err := server.Value(ctx, Global("read_only"))
	return is == "0" || is == "OFF", err
}
