package admin

import (
	"context"
	"fmt"
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
	one, _ := giving.LoadOrStore(address, make(chan struct{}, 1))
	turn := one.(chan struct{})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Alone calls give while the connection of o holds the order lock of its server. Who calls it holds the cluster, so another connection that has
// the lock is of a process that was killed or has lost the cluster: it is ended. A server that has no such locks, or does not let this user use
// them, is given its orders without.
func (o Orders) Alone(ctx context.Context, give func() error) error {
	done, err := ownTurn(ctx, o.Address)
	if err != nil {
		return fmt.Errorf("wait until another order to %s is executed: %w", o.Name, err)
	}
	defer done()
	has, err := o.takeOrderLock(ctx)
	if err != nil {
		return err
	}
	err = give()
	if has {
		// A connection that was cut has given it back. Whether the order was executed does not depend on it.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), othersOrder)
		defer cancel()
		_, _ = o.Value(limited, "SELECT RELEASE_LOCK("+Text(OrderLock)+")")
	}
	return err
}

// EndOthers ends the connection of another process that holds the order lock of a server, and waits until what it was executing is over.
func (o Orders) EndOthers(ctx context.Context) error {
	holder, err := o.Value(ctx, LockHolder(OrderLock))
	if err != nil || isNull(holder) {
		return err
	}
	return o.Alone(ctx, func() error { return nil })
}

func (o Orders) takeOrderLock(ctx context.Context) (has bool, err error) {
	take := func(within time.Duration) (string, error) {
		return o.Value(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %.0f)", Text(OrderLock), within.Seconds()))
	}
	got, err := take(othersOrder)
	if engine.CodeOf(err) != "" {
		return false, nil //nolint:nilerr // it has no such locks
	}
	if err != nil || got == "1" {
		return err == nil, err
	}
	holder, err := o.Value(ctx, LockHolder(OrderLock))
	if err != nil {
		return false, err
	}
	if !isNull(holder) {
		if err := o.Do(ctx, Kill(holder)); err != nil && engine.CodeOf(err) != NoConnection {
			return false, fmt.Errorf("end connection %s, by which another process of Plimsoll gives orders to %s: %w", holder, o.Name, err)
		}
	}
	switch got, err = take(endsWithin); {
	case err != nil:
		return false, err
	case got != "1":
		return false, fmt.Errorf("connection %s to %s, by which another process of Plimsoll gave an order, does not end within %s: what it executes must be over first", holder, o.Name, endsWithin)
	}
	return true, nil
}

func isNull(value string) bool { return value == "" || value == "NULL" }
