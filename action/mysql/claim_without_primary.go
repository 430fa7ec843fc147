package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/internal/poll"
)

// locks keep a claim on nodes that take no writes, in a cluster whose primary is dead or not yet chosen: on each a lock of the
// server's own (GET_LOCK), which a read-only server has too. It belongs to a connection, and is gone with it or with the server.
type locks struct {
	unheard time.Duration // for so long a connection is silent before its lock may be taken from it

	mu   sync.Mutex // never held while a server is asked
	held map[string]engine.Session
	lost bool // they were, while this process slept: another may have had the cluster, whoever leads it now
}

// unheard is as long as a claim holds that nobody prolongs.
const unheard = 30 * time.Second

// takeLock waits a moment: the server may not have noticed yet that whoever had the lock has died.
const takeLock = "SELECT IF(IS_USED_LOCK('" + admin.ClaimLock + "') <=> CONNECTION_ID(), 1, GET_LOCK('" + admin.ClaimLock + "', 1)), IS_USED_LOCK('" +
	admin.ClaimLock + "')"

// take takes the locks of nodes, or finds that they are ours; *action.ClaimedError when another has one, any other error when it
// cannot be told.
func (l *locks) take(ctx context.Context, on *cluster.Cluster, nodes []string, c action.Claim) error {
	before := l.sessions()
	found := make([]error, len(nodes))
	var taking sync.WaitGroup
	for i, node := range nodes {
		taking.Go(func() { found[i] = l.takeOne(ctx, on, node, c) })
	}
	taking.Wait()
	for _, err := range found {
		if claimed := (*action.ClaimedError)(nil); errors.As(err, &claimed) {
			return err
		}
	}
	now := l.sessions()
	anew := slices.ContainsFunc(nodes, func(node string) bool { return before[node] == nil || now[node] != before[node] })
	if err := cmp.Or(found...); err != nil || !anew || !c.Slept {
		return err
	}
	return errors.Join(errLockedAnew, l.lose()) // kept locks would count as locks from before when the run asks again
}

// kept refuses a run that slept and has lost locks meanwhile: another may have had them.
func (l *locks) kept(ctx context.Context) error {
	l.mu.Lock()
	lost := l.lost
	l.mu.Unlock()
	if lost {
		return errLockedAnew
	}
	for _, session := range l.sessions() {
		row, err := ask(ctx, session, "SELECT IS_USED_LOCK('"+admin.ClaimLock+"') <=> CONNECTION_ID()")
		if err != nil || len(row) == 0 || row[0] != "1" {
			return errors.Join(errLockedAnew, l.lose())
		}
	}
	return nil
}

// lose gives all locks back, and says from now on that they were lost.
func (l *locks) lose() error {
	l.mu.Lock()
	l.lost = true
	l.mu.Unlock()
	return l.Close()
}

// sessions are the connections that have locks, or are to have them, by node.
func (l *locks) sessions() map[string]engine.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.held)
}

// errLockedAnew says that a run which slept has locks that it did not have before: another may have had them meanwhile, and given them back
// without a trace, as a server that takes no writes keeps none.
var errLockedAnew error = &engine.Error{
	Kind: engine.Unavailable, Text: "the cluster had no primary, and does not tell whether another run held the cluster while this process was suspended",
}

// errPrimaryChanged says that a run which was suspended finds another primary than the one that has its claim.
var errPrimaryChanged error = &engine.Error{
	Kind: engine.Unavailable, Text: "the primary is no longer the node that has the claim of this run, and the cluster does not tell whether another run held the cluster while this process was suspended",
}

func (l *locks) takeOne(ctx context.Context, on *cluster.Cluster, node string, c action.Claim) error {
	var last error = &engine.Error{Kind: engine.Conflict, Text: "node " + node + ": other connections keep taking its lock"}
	for range 3 { // a connection from before may have been cut, and one that has the lock may end
		session, err := l.session(ctx, on, node)
		if err != nil {
			return fmt.Errorf("lock node %s: %w", node, err)
		}
		row, err := ask(ctx, session, takeLock)
		if err != nil {
			l.drop(node, session)
			last = fmt.Errorf("lock node %s: %w", node, err)
			continue
		}
		if row[0] == "1" {
			return nil
		}
		if err := l.evict(ctx, session, node, row[1], c); err != nil {
			if last = err; !c.Held {
				return err
			}
		} // a run that goes on is not fenced by the connection of its process that died, which a busy server notices late
	}
	return last
}

// free tells whether a node answers, and refuses when another has its lock.
func (l *locks) free(ctx context.Context, on *cluster.Cluster, node string, c action.Claim) (answered bool, err error) {
	if l.has(node) {
		return true, nil
	}
	err = on.Use(ctx, node, func(session engine.Session) (refused error) {
		for range 4 { // a connection may just be ending
			row, err := ask(ctx, session, admin.LockHolder(admin.ClaimLock))
			if err != nil {
				return err
			}
			if answered = true; row[0] == "NULL" {
				return nil
			}
			if refused = l.evict(ctx, session, node, row[0], c); poll.Rest(ctx, 200*time.Millisecond) != nil {
				break
			}
		}
		return refused
	})
	var claimed *action.ClaimedError
	if answered && !errors.As(err, &claimed) {
		err = nil
	}
	return answered, err
}

// evict ends a connection that has the lock and was silent for too long, if the run may do so; else it refuses,
// *action.ClaimedError.
func (l *locks) evict(ctx context.Context, session engine.Session, node, connection string, c action.Claim) error {
	if connection == "NULL" {
		return nil // it has ended
	}
	theirs := &action.ClaimedError{Cluster: c.Cluster, Holder: fmt.Sprintf("connection %s of %s", connection, node)}
	row, err := ask(ctx, session, "SELECT user, host, time FROM information_schema.processlist WHERE id = "+connection)
	if err != nil || len(row) == 0 {
		return theirs // others' connections may not be ours to see
	}
	theirs.Holder = fmt.Sprintf("%s at %s (%s)", row[0], row[1], theirs.Holder)
	if seconds, err := strconv.Atoi(row[2]); err == nil {
		theirs.Silent = time.Duration(seconds)*time.Second - l.unheard
		theirs.Expired = theirs.Silent >= 0
	}
	if !theirs.Expired || !c.Break && !c.Held {
		return theirs
	}
	if _, err := ask(ctx, session, admin.Kill(connection)); err != nil {
		return theirs
	}
	return nil
}
func (l *locks) has(node string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[node] != nil
}

// session is the connection that has a node's lock, or is to have it.
func (l *locks) session(ctx context.Context, on *cluster.Cluster, node string) (engine.Session, error) {
	l.mu.Lock()
	session := l.held[node]
	l.mu.Unlock()
	if session != nil {
		return session, nil
	}
	db, err := on.Database(ctx, node)
	if err != nil {
		return nil, err
	}
	if session, err = db.Session(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[node] = session
	return session, nil
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
		row = append(row, cluster.Plain(r.At(0, i)))
	}
	return row, nil
}
