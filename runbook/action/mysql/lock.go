package mysql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

// locks keep a claim on nodes that take no writes, in a cluster whose primary is dead or not yet chosen: on each a lock of the
// server's own (GET_LOCK), which a read-only server has too. It belongs to a connection, and is gone with it or with the server.
type locks struct {
	unheard time.Duration // for so long a connection is silent before its lock may be taken from it

	mu   sync.Mutex // never held while a server is asked
	held map[string]engine.Session
}

// unheard is as long as a claim holds that nobody prolongs.
const unheard = 30 * time.Second

// takeLock waits a moment: the server may not have noticed yet that whoever had the lock has died.
const takeLock = `SELECT IF(IS_USED_LOCK('plimsoll.claim') <=> CONNECTION_ID(), 1, GET_LOCK('plimsoll.claim', 1)), IS_USED_LOCK('plimsoll.claim')`

// take takes a node's lock, or finds that it is ours; *action.ClaimedError when another has it. A node that cannot be asked
// keeps nothing: nor does it for another.
func (l *locks) take(ctx context.Context, site *action.Site, node string, c action.Claim) error {
	var ended error
	for range 3 { // a connection from before may have been cut, and one that has the lock may end
		session := l.session(ctx, site, node)
		if session == nil {
			return nil
		}
		row, err := ask(ctx, session, takeLock)
		if err != nil {
			l.drop(node, session)
			ended = nil
			continue
		}
		if row[0] == "1" {
			return nil
		}
		theirs, err := l.owner(ctx, session, node, row[1], c)
		switch {
		case err != nil:
			l.drop(node, session)
		case theirs == nil:
		case theirs.Expired && (c.Break || c.Held):
			_, _ = ask(ctx, session, "KILL "+row[1]) // seen by who has the lock then
			ended = theirs
		default:
			return theirs
		}
	}
	return ended
}

// owner says who has a lock; nil if nobody has it any more.
func (l *locks) owner(ctx context.Context, session engine.Session, node, connection string, c action.Claim) (*action.ClaimedError, error) {
	if connection == "NULL" {
		return nil, nil
	}
	row, err := ask(ctx, session, "SELECT user, host, time FROM information_schema.processlist WHERE id = "+connection)
	if err != nil || len(row) == 0 {
		return nil, err
	}
	e := &action.ClaimedError{Cluster: c.Cluster, Holder: fmt.Sprintf("%s at %s (connection %s of %s)", row[0], row[1], connection, node)}
	if seconds, err := strconv.Atoi(row[2]); err == nil {
		e.Silent = time.Duration(seconds) * time.Second
		e.Expired = e.Silent >= l.unheard
	}
	return e, nil
}

// session is the connection that has a node's lock, or is to have it; nil if there can be none.
func (l *locks) session(ctx context.Context, site *action.Site, node string) engine.Session {
	l.mu.Lock()
	session := l.held[node]
	l.mu.Unlock()
	if session != nil {
		return session
	}
	db, err := site.Database(ctx, node)
	if err == nil {
		session, err = db.Session(ctx)
	}
	if err != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[node] = session
	return session
}

func (l *locks) drop(node string, session engine.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, node)
	_ = session.Close() // it is of no use any more
}

// Close gives all locks back.
func (l *locks) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all error
	for node, session := range l.held {
		delete(l.held, node)
		all = errors.Join(all, session.Close())
	}
	return all
}

// ask returns the first row of a query as texts; empty when there is none.
func ask(ctx context.Context, session engine.Session, query string) ([]string, error) {
	defer context.AfterFunc(ctx, session.Interrupt)()
	r := engine.Result{Keep: true}
	if err := session.Exec(ctx, query, &r); err != nil || r.Rows == 0 {
		return nil, err
	}
	var row []string
	for i := range r.Columns {
		row = append(row, action.Plain(r.At(0, i)))
	}
	return row, nil
}
