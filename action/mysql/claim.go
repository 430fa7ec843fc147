package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// ClusterLock keeps claims in a table of the cluster's primary, plimsoll.claim. It replicates: a new primary has it too. Where
// there is no primary, it keeps them in locks.
type ClusterLock struct {
	cluster *cluster.Cluster
	locks   locks
	primary string            // on which the claim was written last
	alone   bool              // orders that other processes had given were ended
	numbers map[string]string // the server_id of nodes on which a claim was written, by their names
	overdue overdue           // claims that are known to have run out
}

// NewClusterLock is for one run, or whoever else wants a cluster. The locks that it holds in servers end when the cluster is closed.
func NewClusterLock(on *cluster.Cluster) *ClusterLock {
	m := &ClusterLock{cluster: on, locks: locks{unheard: unheard, held: map[string]engine.Session{}}, numbers: map[string]string{}, overdue: overdue{}}
	on.Keep(&m.locks)
	return m
}

const makeClaims = `CREATE TABLE IF NOT EXISTS plimsoll.claim (id TINYINT PRIMARY KEY, run VARCHAR(100) NOT NULL,
	holder VARCHAR(200) NOT NULL, epoch BIGINT NOT NULL, since DATETIME(6) NOT NULL, expires DATETIME(6) NOT NULL)`

// doubt is how much the clocks of hosts that execute one run may differ. It is far less than a claim holds: where there is no primary, a
// claim is a lock that ends with its process, so another run may have had the cluster soon after ours began.
func doubt(c action.Claim) time.Duration { return min(5*time.Second, c.For/2) }

// Claim takes or prolongs a claim. The clock of the server that wrote it says what has run out; where that
// does not answer, Watch does. When it is taken first, what a process that had the cluster before may
// still have under way on its servers is ended.
//
// A cluster without a primary, in the middle of a switchover or because its primary is dead, takes no writes: there it is
// looked whether another has claimed it, and what its nodes can keep without a write is locked. Once there is a primary again,
// the claim is written there, and the locks are given back.
func (m *ClusterLock) Claim(ctx context.Context, c action.Claim) error {
	if err := m.claim(ctx, c); err != nil || m.alone {
		return err
	}
	m.alone = m.endOrders(ctx)
	return nil
}

func (m *ClusterLock) claim(ctx context.Context, c action.Claim) error {
	primary, err := m.cluster.Primary(ctx)
	if errors.Is(err, cluster.ErrNoPrimary) {
		return m.lock(ctx, c)
	}
	if c.Slept {
		if err := m.sameSince(ctx, c, primary.Name); err != nil {
			return err
		}
	}
	if !c.Held {
		if _, _, err := m.lookAt(ctx, m.leading(ctx), c, primary.Name); err != nil {
			return err
		}
		if err := m.unlocked(ctx, c); err != nil {
			return err
		}
	}
	err = m.take(ctx, c, primary.Name)
	if engine.ClassOf(err) == engine.Missing {
		err = m.cluster.Execute(ctx, "", []string{
			"CREATE DATABASE IF NOT EXISTS plimsoll", makeClaims,
			"INSERT IGNORE INTO plimsoll.claim VALUES (1, '', '', 0, '2000-01-01', '2000-01-01')",
		}, func(int) {})
		if err == nil {
			err = m.take(ctx, c, primary.Name)
		}
	}
	switch {
	case err == nil:
		m.primary = primary.Name
		return m.locks.Close()
	case engine.ClassOf(err) == engine.ReadOnly || errors.Is(err, errDemoted):
		m.cluster.RolesChanged()
		return m.lock(ctx, c)
	}
	return err
}

// sameSince refuses a run that slept while another may have made this primary: another that took the locks of a cluster without a primary
// writes its claim only once there is one.
func (m *ClusterLock) sameSince(ctx context.Context, c action.Claim, primary string) error {
	if _, _, err := m.lookAt(ctx, m.leading(ctx), c, primary); err != nil {
		return err
	}
	if err := m.locks.kept(ctx); err != nil {
		return err
	}
	if len(m.locks.sessions()) == 0 && m.primary != "" && m.primary != primary {
		return errPrimaryChanged
	}
	c.Held, c.Break = false, false // a lock that another has now is never ended, however long its connection is silent
	return m.unlocked(ctx, c)
}

// errDemoted says that the primary became read only under us, and that who may write there all the same does not.
var errDemoted = errors.New("it is read-only")

func (m *ClusterLock) take(ctx context.Context, c action.Claim, primary string) error {
	holder, err := m.signed(ctx, c.Holder, primary)
	if err != nil {
		return err
	}
	// Who had the cluster before takes it anew only if nobody else has taken it since: their claim, or what is left of it, is older.
	free := "run = ''"
	mayBreak := "FALSE"
	switch {
	case c.Held && !c.Since.IsZero():
		older := fmt.Sprintf("since < UTC_TIMESTAMP(6) - INTERVAL %d MICROSECOND", c.Ago(doubt(c))/time.Microsecond)
		free, mayBreak = free+" AND "+older, "expires < UTC_TIMESTAMP(6) AND "+older
	case c.Break:
		mayBreak = m.overdue.condition(m.numbers[primary])
	}
	if c.Past != "" {
		mayBreak += " OR run = " + admin.Text(c.Past)
	}
	// since comes first: MySQL assigns from left to right, and run is compared before it changes.
	update := fmt.Sprintf(`UPDATE plimsoll.claim SET since = IF(run = %s, since, UTC_TIMESTAMP(6)), run = %s, holder = %s, epoch = %d, expires = UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND
		WHERE id = 1 AND @@GLOBAL.read_only = 0 AND (%s OR run = %s AND epoch <= %d OR %s)`,
		admin.Text(c.Run), admin.Text(c.Run), admin.Text(holder), c.Epoch, c.For/time.Microsecond, free, admin.Text(c.Run), c.Epoch, mayBreak)
	if err := m.cluster.Execute(ctx, "", []string{update}, func(int) {}); err != nil {
		return err
	}
	row, err := m.cluster.Row(ctx, "", readClaim)
	switch {
	case err != nil:
		return err
	case len(row) != 6:
		return &engine.Error{Kind: engine.Missing, Text: "plimsoll.claim has no row"} // who made the table was cut off
	case row[5] == "1":
		return errDemoted
	case row[0] != c.Run || row[2] != fmt.Sprint(c.Epoch):
		theirs := claimed(c.Cluster, row)
		if c.Break {
			theirs.Expired, theirs.Silent = false, 0 // a clock may say so that is not the writer's
		}
		return theirs
	}
	return nil
}

// Claims are those in the tables of single servers.
type Claims struct{}

// Holder is the run whose claim a server has; "" if it has none.
func (Claims) Holder(ctx context.Context, in engine.Database) (run string, err error) {
	session, err := in.Session(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	found := engine.Result{Keep: true}
	err = session.Exec(ctx, "SELECT run FROM plimsoll.claim WHERE id = 1", &found)
	switch {
	case engine.ClassOf(err) == engine.Missing: // nobody has claimed anything there
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read its claim: %w", err)
	case found.Rows == 0:
		return "", nil
	}
	return cluster.Plain(found.At(0, 0)), nil
}

// Forget releases the claim of a run in a copy of the cluster that the run has claimed: its table was copied with the data, and nobody would
// prolong or release it there.
func (Claims) Forget(ctx context.Context, in engine.Database, run string) error {
	session, err := in.Session(ctx)
	if err != nil {
		return err
	}
	err = session.Exec(ctx, "UPDATE plimsoll.claim SET run = '', holder = '', expires = UTC_TIMESTAMP(6) WHERE run = "+admin.Text(run), nil)
	if engine.ClassOf(err) == engine.Missing { // nobody has claimed anything there
		err = nil
	}
	return errors.Join(err, session.Close())
}

const readClaim = `SELECT run, holder, epoch, TIMESTAMPDIFF(MICROSECOND, since, UTC_TIMESTAMP(6)), TIMESTAMPDIFF(MICROSECOND, expires, UTC_TIMESTAMP(6)),
	@@GLOBAL.read_only FROM plimsoll.claim WHERE id = 1`

// lock compares the claim with what every node that answers has of it, which may be a little old, and takes their locks if none
// refuses.
func (m *ClusterLock) lock(ctx context.Context, c action.Claim) error {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	answered, silent, err := m.lookAt(ctx, names(nodes), c, "")
	if err == nil && len(answered) == 0 {
		return fmt.Errorf("cluster %s: no node answers: %w", c.Cluster, silent)
	}
	if err == nil {
		err = m.locks.take(ctx, m.cluster, answered, c)
	}
	if claimed := (*action.ClaimedError)(nil); errors.As(err, &claimed) {
		_ = m.locks.Close() // another has the cluster: what we have would be in its way
	}
	return err
}

// unlocked refuses while another has a lock: it took the cluster when there was no primary, and has not written its claim yet. A node
// that does not answer has no say, or no run could claim a cluster with a node that is dead or still to be made.
func (m *ClusterLock) unlocked(ctx context.Context, c action.Claim) error {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	found := make([]error, len(nodes))
	m.each(ctx, names(nodes), func(ctx context.Context, i int) bool {
		answered, err := m.locks.free(ctx, m.cluster, nodes[i].Name, c)
		if answered || engine.ClassOf(err) == engine.Denied {
			found[i] = err
		}
		return answered
	})
	return cmp.Or(found...)
}

// Clear gives a claim back; that of another stays.
func (m *ClusterLock) Clear(ctx context.Context, c action.Claim) (err error) {
	defer func() { err = errors.Join(err, m.locks.Close()) }()
	if _, err := m.cluster.Primary(ctx); errors.Is(err, cluster.ErrNoPrimary) && !m.stands(ctx, c) {
		return nil // it was never written
	}
	if err := m.awaitPrimary(ctx); err != nil {
		return err
	}
	untold := m.trace(ctx, c)
	clear := fmt.Sprintf("UPDATE plimsoll.claim SET run = '', holder = '' WHERE id = 1 AND run = %s AND epoch <= %d", admin.Text(c.Run), c.Epoch)
	err = m.cluster.Execute(ctx, "", []string{clear}, func(int) {})
	if engine.ClassOf(err) == engine.Missing { // no run has ever claimed this one
		err = nil
	}
	for _, node := range m.leading(ctx) {
		if row, reading := m.cluster.Row(ctx, node, readClaim); reading == nil && len(row) == 6 && row[0] == c.Run {
			err = errors.Join(err, m.cluster.Execute(ctx, node, []string{clear}, func(int) {}))
		}
	}
	return errors.Join(untold, err)
}

// trace writes a claim that was kept in locks alone, if they still are ours, so that whoever had the cluster before finds that we had it.
func (m *ClusterLock) trace(ctx context.Context, c action.Claim) error {
	if len(m.locks.sessions()) == 0 || m.locks.kept(ctx) != nil {
		return nil //nolint:nilerr // whoever has the locks by now tells of itself
	}
	err := m.Claim(ctx, c)
	if claimed := (*action.ClaimedError)(nil); errors.As(err, &claimed) { // another has it by now: that is not ours to record
		err = nil
	}
	if err != nil {
		return fmt.Errorf("record in the cluster that this run held it: %w", err)
	}
	return nil
}

// stands tells whether a node has the claim, as far as it is known: nobody may answer.
func (m *ClusterLock) stands(ctx context.Context, c action.Claim) bool {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return true
	}
	var answered, has atomic.Bool
	m.each(ctx, names(nodes), func(ctx context.Context, i int) bool {
		row, err := m.cluster.Row(ctx, nodes[i].Name, readClaim)
		if err != nil && engine.ClassOf(err) != engine.Missing {
			return false
		}
		answered.Store(true)
		if len(row) == 6 && row[0] == c.Run {
			has.Store(true)
		}
		return true
	})
	return has.Load() || !answered.Load()
}

// leading are all nodes that take writes of their own. Of servers that have nothing to do with one another the primary is
// the one that most follow at the moment, so a claim may be where the primary was when it was taken.
func (m *ClusterLock) leading(ctx context.Context) []string {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return nil // whoever asks next says so
	}
	all := names(nodes)
	leading := make([]bool, len(all))
	m.each(ctx, all, func(ctx context.Context, i int) bool {
		db, err := m.cluster.Database(ctx, all[i])
		if err != nil {
			return false
		}
		r, ok := engine.As[engine.Replicated](db)
		if !ok {
			return true
		}
		is, err := r.ReplicationStatus(ctx)
		leading[i] = err == nil && is.Primary()
		return err == nil
	})
	var found []string
	for i, leads := range leading {
		if leads {
			found = append(found, all[i])
		}
	}
	return found
}

// awaitPrimary waits until there is a primary, not for long: the run may have restarted it just now.
func (m *ClusterLock) awaitPrimary(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		_, err := m.cluster.Primary(ctx)
		switch {
		case errors.Is(err, cluster.ErrNoPrimary):
			last = err
		case err != nil && ctx.Err() != nil: // the end of the time is no cause
			return cmp.Or(last, err)
		default:
			return err
		}
		select {
		case <-tick.C:
			m.cluster.RolesChanged()
		case <-ctx.Done():
			return last
		}
	}
}
