package cql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/poll"
)

// ClusterLock keeps claims in a table of the ring, plimsoll.claim, changed by lightweight transactions alone: of two who want the ring at
// the same moment one gets it. A claim holds for as long as one of its cells, which has a time to live (TTL), is there.
type ClusterLock struct{ Cluster *cluster.Cluster }

// Claim takes or prolongs a claim. Where too few replicas answer to change one, it is only looked whether another has it: that is an
// error for who has stored none, whom others do not see.
func (m ClusterLock) Claim(ctx context.Context, c action.Claim) error {
	err := m.take(ctx, c)
	if engine.ClassOf(err) == engine.Missing {
		if err = m.make(ctx); err == nil {
			err = m.take(ctx, c)
		}
	}
	if class := engine.ClassOf(err); class == engine.Unavailable || class == engine.Timeout {
		return m.look(ctx, c, err)
	}
	return err
}

// make makes the table, with as many replicas in each data centre as there are nodes, three at most.
func (m ClusterLock) make(ctx context.Context) error {
	// Not from a view of the ring: that listens for ten seconds for a member that died.
	nodes := map[string]int{}
	for _, table := range []string{"local", "peers"} {
		rows, err := m.rows(ctx, "SELECT data_center FROM system."+table)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if center := string(row[0].Data); center != "" {
				nodes[center]++
			}
		}
	}
	replication := "'class': 'NetworkTopologyStrategy'"
	for center, n := range nodes {
		replication += fmt.Sprintf(", %s: %d", text(center), min(n, 3))
	}
	for _, statement := range []string{
		"CREATE KEYSPACE IF NOT EXISTS plimsoll WITH replication = {" + replication + "}",
		"CREATE TABLE IF NOT EXISTS plimsoll.claim (id int PRIMARY KEY, run text, holder text, epoch bigint, since timestamp, beat text)",
	} {
		if _, err := m.row(ctx, statement); err != nil {
			return err
		}
	}
	return m.agreed(ctx)
}

// agreeing is how long members may take to learn of the table. One that died a moment ago, and is not known to be down, never does.
const agreeing = 4 * time.Second

// agreed waits until all members have the table: a change of the ring is refused while they disagree about the schema.
func (m ClusterLock) agreed(ctx context.Context) error {
	r, err := ringOf(ctx, m.Cluster)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, agreeing)
	defer cancel()
	for {
		v, err := r.view(limited, "")
		if err == nil {
			if v.disagreement() == "" {
				return nil
			}
			err = poll.Rest(limited, often)
		}
		switch {
		case err == nil:
		case limited.Err() != nil && ctx.Err() == nil:
			return nil // what needs them to agree looks itself
		default:
			return fmt.Errorf("make the table of claims: %w", err)
		}
	}
}

func (m ClusterLock) take(ctx context.Context, c action.Claim) error {
	mine := fmt.Sprintf("run = %s, holder = %s, epoch = %d, since = toTimestamp(now())", text(c.Run), text(c.Holder), c.Epoch)
	if c.Held && !c.Since.IsZero() { // then nobody may have had it since, and given it back
		if is, err := m.read(ctx); err != nil {
			return err
		} else if is.run != c.Run && is.elsewhere(c) {
			return is.claimed(c)
		}
	}
	if err := m.change(ctx, fmt.Sprintf("UPDATE plimsoll.claim SET %s WHERE id = 1 IF run = null", mine)); err != nil && !errors.Is(err, errNotApplied) {
		return err
	}
	prolong := fmt.Sprintf("UPDATE plimsoll.claim USING TTL %d SET beat = %s WHERE id = 1 IF run = %s AND epoch = %d",
		max(1, int((c.For+time.Second-1)/time.Second)), text(c.Run), text(c.Run), c.Epoch)
	err := m.change(ctx, prolong)
	if !errors.Is(err, errNotApplied) {
		return err
	}
	is, err := m.read(ctx)
	if err != nil {
		return err
	}
	var how string
	switch {
	case is.run == c.Run && is.epoch < c.Epoch:
		how = fmt.Sprintf("SET holder = %s, epoch = %d WHERE id = 1 IF run = %s AND epoch = %d", text(c.Holder), c.Epoch, text(c.Run), is.epoch)
	case c.Past != "" && is.run == c.Past:
		how = fmt.Sprintf("SET %s WHERE id = 1 IF run = %s AND epoch = %d", mine, text(is.run), is.epoch)
	case (c.Break || c.Held && !c.Since.IsZero()) && is.expired():
		how = fmt.Sprintf("SET %s WHERE id = 1 IF run = %s AND epoch = %d AND beat = null", mine, text(is.run), is.epoch)
	default:
		return is.claimed(c)
	}
	if err := m.change(ctx, "UPDATE plimsoll.claim "+how); err != nil {
		return m.lost(ctx, c, err)
	}
	return m.lost(ctx, c, m.change(ctx, prolong))
}

// lost says who was faster.
func (m ClusterLock) lost(ctx context.Context, c action.Claim, err error) error {
	if !errors.Is(err, errNotApplied) {
		return err
	}
	is, err := m.read(ctx)
	if err != nil {
		return err
	}
	return is.claimed(c)
}

// look compares the claim with what there is, where it cannot be changed. Nobody else can change it either.
func (m ClusterLock) look(ctx context.Context, c action.Claim, cannot error) error {
	is, err := m.read(ctx)
	if err != nil {
		return fmt.Errorf("%w; read it instead: %w", cannot, err)
	}
	switch theirs := is.run != "" && is.run != c.Past && (is.run != c.Run || is.epoch > c.Epoch); {
	case is.run != c.Run && is.elsewhere(c):
		return is.claimed(c)
	case theirs && is.expired() && (c.Break || c.Held):
		return cannot // it is to be broken yet
	case theirs:
		return is.claimed(c)
	case !c.Stored:
		return cannot
	}
	return nil
}

// clearing is how long it is tried to give a claim back: a run may have restarted who is asked a moment ago.
const clearing = 20 * time.Second

// Clear gives a claim back, also one of an earlier epoch of the run, which could not prolong it since; that of another stays. What
// cannot be written in time runs out.
func (m ClusterLock) Clear(ctx context.Context, c action.Claim) error {
	limited, cancel := context.WithTimeout(ctx, clearing)
	defer cancel()
	for {
		err := m.change(limited, fmt.Sprintf("DELETE run, holder, epoch, beat FROM plimsoll.claim WHERE id = 1 IF run = %s AND epoch <= %d", text(c.Run), c.Epoch))
		if !out(err) {
			if errors.Is(err, errNotApplied) || engine.ClassOf(err) == engine.Missing { // nothing of ours is there
				return nil
			}
			return err
		}
		if poll.Rest(limited, often) != nil {
			return err
		}
	}
}

// claimStatus is the claim that is there; no run: none is.
type claimStatus struct {
	run, holder string
	epoch       int64
	since       time.Time
	beats       bool
}

func (s claimStatus) expired() bool { return s.run != "" && !s.beats }

// elsewhere tells whether who left this, given back or not, took the ring since we first had it.
func (s claimStatus) elsewhere(c action.Claim) bool {
	return !s.since.IsZero() && c.Elsewhere(time.Since(s.since), c.For/2)
}

func (s claimStatus) claimed(c action.Claim) error {
	return &action.ClaimedError{Cluster: c.Cluster, Run: s.run, Holder: s.holder, Since: s.since, Expired: s.expired()}
}

func (m ClusterLock) read(ctx context.Context) (claimStatus, error) {
	row, err := m.row(ctx, "SELECT run, holder, epoch, toUnixTimestamp(since), beat FROM plimsoll.claim WHERE id = 1")
	if err != nil || len(row) < 5 {
		return claimStatus{}, err
	}
	s := claimStatus{run: string(row[0].Data), holder: string(row[1].Data), epoch: row[2].Int, beats: len(row[4].Data) > 0}
	if row[3].Int > 0 {
		s.since = time.UnixMilli(row[3].Int)
	}
	return s, nil
}

// errNotApplied says that a lightweight transaction found something else than it expected.
var errNotApplied = errors.New("another run took the claim first")

// change runs a lightweight transaction.
func (m ClusterLock) change(ctx context.Context, statement string) error {
	row, err := m.row(ctx, statement)
	if err != nil {
		return err
	}
	if len(row) == 0 || row[0].Int != 1 && string(row[0].Data) != "true" {
		return errNotApplied
	}
	return nil
}

// row runs a statement and returns the first row, if there is any.
func (m ClusterLock) row(ctx context.Context, statement string) ([]engine.Value, error) {
	rows, err := m.rows(ctx, statement)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// rows runs a statement on the first node that can, and returns all rows. That one which is said not to run
// holds no claim must not be taken for granted: it is asked last.
func (m ClusterLock) rows(ctx context.Context, statement string) ([][]engine.Value, error) {
	r, err := ringOf(ctx, m.Cluster)
	if err != nil {
		return nil, err
	}
	var last error = &engine.Error{Kind: engine.Unavailable, Text: "no node of " + m.Cluster.Name + " runs"}
	running, unknown, idle := r.byWord(ctx)
	for _, n := range running {
		rows, err := m.ask(ctx, n, statement)
		if err == nil || ctx.Err() != nil || engine.ClassOf(err) != engine.Unavailable {
			return rows, err
		}
		last = fmt.Errorf("node %s: %w", n.Name, err)
	}
	doubtful := append(unknown, idle...)
	for _, limit := range []time.Duration{idleTime, slowTime} {
		var late []cluster.Node
		for _, n := range doubtful {
			limited, cancel := context.WithTimeout(ctx, limit)
			rows, err := m.ask(limited, n, statement)
			expired := limited.Err() != nil
			cancel()
			switch {
			case err == nil || ctx.Err() != nil || !expired && engine.ClassOf(err) != engine.Unavailable:
				return rows, err
			case expired:
				late, last = append(late, n), &engine.Error{Kind: engine.Unavailable, Text: fmt.Sprintf("node %s gave no answer within %s", n.Name, limit)}
			}
		}
		doubtful = late
	}
	return nil, last
}

func (m ClusterLock) ask(ctx context.Context, n cluster.Node, statement string) (rows [][]engine.Value, err error) {
	err = m.Cluster.Use(ctx, n.Name, func(session engine.Session) error {
		r := engine.Result{Keep: true}
		if err := session.Exec(ctx, statement, &r); err != nil {
			return err
		}
		for at := range r.Rows {
			row := make([]engine.Value, r.Columns)
			for i := range row {
				row[i] = r.At(at, i)
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// text writes a text as a literal of CQL.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Look tells which run has a ring, and changes nothing.
func (m ClusterLock) Look(ctx context.Context, cluster string) error {
	is, err := m.read(ctx)
	switch {
	case engine.ClassOf(err) == engine.Missing: // no run has ever claimed this one
		return nil
	case err != nil:
		return fmt.Errorf("find out which run holds cluster %s: %w", cluster, err)
	case is.run == "":
		return nil
	}
	return is.claimed(action.Claim{Cluster: cluster})
}
