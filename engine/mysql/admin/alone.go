package admin

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
)

// OrderLock is the lock (GET_LOCK) that a connection holds on a server while it gives orders there.
//
// A process that was killed may have sent an order that its server has not received yet, or does not execute yet: the network held it up, or the
// server hangs. Executed later, it would change what the next process has found and done. By this lock the next one finds the connection, and ends
// it: what was sent on an ended connection is never executed.
const OrderLock = "plimsoll.order"

const (
	othersOrder = time.Second     // that an order of another process may take before its connection is ended
	endsWithin  = 5 * time.Second // that a server may take to end a connection
)

// giving has a channel of one place for each server that this process gives orders to, by address: connections of our own do not take each other
// for those of a process that was killed.
var giving sync.Map

func ownTurn(ctx context.Context, address string) (done func(), err error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), "3306")
	}
	one, _ := giving.LoadOrStore(address, make(chan struct{}, 1))
	turn := one.(chan struct{})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// NotGivenError says that an order was not given, and that no other is under way.
type NotGivenError struct{ Err error }

func (e *NotGivenError) Error() string { return e.Err.Error() }

func (e *NotGivenError) Unwrap() error { return e.Err }

// Alone calls give while the connection of o holds the order lock of its server. Who calls it holds the cluster, so another connection that has
// the lock is of a process that was killed or has lost the cluster: it is ended. A server that has no such locks, or does not let this user use
// them, is given its orders without. *NotGivenError where give was not called, and no order of another is under way.
func (o Orders) Alone(ctx context.Context, give func() error) error {
	done, err := ownTurn(ctx, o.Address)
	if err != nil {
		return fmt.Errorf("wait until another statement of Plimsoll on %s has ended: %w", o.Name, err)
	}
	defer done()
	has, err := o.takeOrderLock(ctx)
	if err != nil {
		return err
	}
	err = give()
	if has {
		// A connection that was cut has given it back. Whether the order was executed does not depend on it.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endsWithin)
		defer cancel()
		_, _ = o.Value(limited, "SELECT RELEASE_LOCK("+Text(OrderLock)+")")
	}
	return err
}

// EndOthers ends the connection of another process that holds the order lock of a server, at once, and waits until what it was executing is over.
func (o Orders) EndOthers(ctx context.Context) error {
	done, err := ownTurn(ctx, o.Address)
	if err != nil {
		return err
	}
	defer done()
	holder, err := o.Value(ctx, LockHolder(OrderLock))
	if err != nil || isNull(holder) {
		return err
	}
	if err := o.end(ctx, holder); err != nil {
		return err
	}
	_, err = o.Value(ctx, "SELECT RELEASE_LOCK("+Text(OrderLock)+")")
	return err
}

func (o Orders) take(ctx context.Context, within time.Duration) (string, error) {
	return o.Value(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %.0f)", Text(OrderLock), within.Seconds()))
}

func (o Orders) takeOrderLock(ctx context.Context) (has bool, err error) {
	got, err := o.take(ctx, othersOrder)
	switch {
	case err != nil && engine.CodeOf(err) != "" && !passes(err):
		return false, nil // it has no such locks
	case err != nil:
		return false, &NotGivenError{err}
	case got == "1":
		return true, nil
	}
	holder, err := o.Value(ctx, LockHolder(OrderLock))
	if err != nil {
		return false, err
	}
	return true, o.end(ctx, holder)
}

// end ends the connection that holds the order lock, and takes the lock.
func (o Orders) end(ctx context.Context, holder string) error {
	if !isNull(holder) {
		if err := o.Do(ctx, Kill(holder)); err != nil && engine.CodeOf(err) != NoConnection {
			return fmt.Errorf("end connection %s, over which another Plimsoll process executes statements on %s: %w", holder, o.Name, err)
		}
	}
	switch got, err := o.take(ctx, endsWithin); {
	case err != nil:
		return err
	case got != "1":
		return fmt.Errorf("connection %s of another Plimsoll process to %s did not end within %s: its statement must end first", holder, o.Name, endsWithin)
	}
	return nil
}

// passes tells the errors of a server that has such locks and did not give one now.
func passes(err error) bool {
	switch engine.ClassOf(err) {
	case engine.Timeout, engine.Deadlock, engine.LockTimeout, engine.Unavailable, engine.Overloaded:
		return true
	}
	return false
}

func isNull(value string) bool { return value == "" || value == "NULL" }
