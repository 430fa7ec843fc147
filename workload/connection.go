package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"plimsoll/engine"
	"plimsoll/load"
)

// Connection is the part that every client shares: a worker's session with its statements, which a reconnect prepares
// again, and the transaction that an error leaves open. It belongs to one goroutine, but for Interrupt.
type Connection struct {
	db    engine.Database
	texts []string

	statements []engine.Statement
	open       bool // a transaction

	mu      sync.Mutex // lets Interrupt find the session
	session engine.Session
}

// Dial opens a session and prepares the texts.
func Dial(ctx context.Context, db engine.Database, texts []string) (*Connection, error) {
	c := &Connection{db: db, texts: texts}
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Exec runs the statement of one of the texts. r may be nil.
func (c *Connection) Exec(ctx context.Context, text int, args []engine.Value, r *engine.Result) error {
	return c.statements[text].Exec(ctx, args, r)
}

// Begin starts a transaction.
func (c *Connection) Begin(ctx context.Context) error {
	c.open = true // maybe, until the server has answered
	return c.session.Exec(ctx, "BEGIN", nil)
}

// Commit ends the transaction and keeps what it did.
func (c *Connection) Commit(ctx context.Context) error {
	err := c.session.Exec(ctx, "COMMIT", nil)
	if err == nil {
		c.open = false
	}
	return err
}

// Rollback ends the transaction and undoes what it did.
func (c *Connection) Rollback(ctx context.Context) error {
	err := c.session.Exec(ctx, "ROLLBACK", nil)
	if err == nil {
		c.open = false
	}
	return err
}

// End is where an operation returns: after an error it rolls back the transaction that is still open. When even that is
// not possible the error says that the connection is lost.
func (c *Connection) End(ctx context.Context, err error) error {
	if err == nil || !c.open {
		return err
	}
	c.open = false
	if Lost(err) {
		return err
	}
	if failed := c.session.Exec(context.WithoutCancel(ctx), "ROLLBACK", nil); failed != nil {
		return &engine.Error{Kind: engine.ClassOf(err), Lost: true, Text: fmt.Sprintf("%v; then no ROLLBACK: %v", err, failed), Err: err}
	}
	return err
}

// Transact runs the body of a transaction, and the whole transaction again after a deadlock or its like, as often as retries says. keep
// tells whether to commit.
func (c *Connection) Transact(ctx context.Context, retries int64, body func(ctx context.Context) (keep bool, err error)) error {
	for tries := int64(0); ; tries++ {
		err := c.End(ctx, c.once(ctx, body))
		if err == nil || tries >= retries || !retryable(err) {
			return err
		}
	}
}

func (c *Connection) once(ctx context.Context, body func(ctx context.Context) (keep bool, err error)) error {
	if err := c.Begin(ctx); err != nil {
		return err
	}
	keep, err := body(ctx)
	if err != nil {
		return err
	}
	if !keep {
		return c.Rollback(ctx)
	}
	return c.Commit(ctx)
}

// retryable tells whether the same transaction may well succeed when it is tried again.
func retryable(err error) bool {
	switch engine.ClassOf(err) {
	case engine.Deadlock, engine.LockTimeout, engine.Conflict:
		return !Lost(err)
	}
	return false
}

// Lost tells whether an error means that the connection is gone.
func Lost(err error) bool {
	var broken load.Broken
	return errors.As(err, &broken) && broken.ConnectionLost()
}

// Reconnect tries once to get a new session with all its statements.
func (c *Connection) Reconnect(ctx context.Context) error {
	_ = c.session.Close() // it is lost
	return c.connect(ctx)
}

func (c *Connection) connect(ctx context.Context) error {
	session, err := c.db.Session(ctx)
	if err != nil {
		return err
	}
	statements := make([]engine.Statement, len(c.texts))
	for i, text := range c.texts {
		if statements[i], err = session.Prepare(ctx, text); err != nil {
			_ = session.Close()
			return fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	c.mu.Lock()
	c.session = session
	c.mu.Unlock()
	c.statements, c.open = statements, false
	return nil
}

// Interrupt breaks the session under a call that is under way.
func (c *Connection) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.Interrupt()
}

// Close ends the session.
func (c *Connection) Close() error { return c.session.Close() }
