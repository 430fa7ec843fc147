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

// Orders are how a server is asked and told.
type Orders struct {
	Name  string // of the server, for people
	Value func(ctx context.Context, query string) (string, error)
	Do    func(ctx context.Context, statements ...string) error
}

// Open makes a server take writes that refuses them by read_only; on MySQL that takes super_read_only back too. One that takes them already is
// left as it is. The order is void if the lock of the cluster changes hands after it was asked for, or the time is over, when the server executes
// it: who sent it may be gone by then, and another server the primary. Any error but *StaysReadOnlyError leaves open whether it takes writes.
func Open(ctx context.Context, server Orders, within time.Duration) error {
	for range 3 { // our own connection, or that by which our run keeps the lock, may have been made anew meanwhile
		if opens, err := tryOpen(ctx, server, within); opens || err != nil {
			return err
		}
	}
	return &StaysReadOnlyError{fmt.Errorf("%s stays read-only: the lock %s changed hands while it was to be opened, or it took longer than %s", server.Name, ClaimLock, within)}
}

func tryOpen(ctx context.Context, server Orders, within time.Duration) (opens bool, err error) {
	if opens, err := takesWrites(ctx, server); opens || err != nil {
		return opens, asReadOnly(err)
	}
	holder, err := server.Value(ctx, LockHolder(ClaimLock))
	if err != nil {
		return false, asReadOnly(err)
	}
	if holder == "" {
		holder = "NULL"
	}
	until, err := server.Value(ctx, In(within))
	if err != nil {
		return false, asReadOnly(err)
	}
	if err := server.Do(ctx, SetGlobalWhile(ClaimLock, holder, until, "read_only", "0", "1")); err != nil {
		if engine.CodeOf(err) != "" { // it answered, and did not do it
			err = asReadOnly(err)
		}
		return false, err
	}
	return takesWrites(ctx, server)
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
