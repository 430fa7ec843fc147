package action

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// refusesFact is the fact that a server refused the writes of ordinary users when it was looked at.
const refusesFact = "read_only"

// wroteFact is the fact of which transactions a server that refused writes had written itself, by GTID.
const wroteFact = "wrote"

// startFact is the fact that it is not known whether a server that refuses writes does so after its next start.
const startFact = "after_its_start"

// closedAgain is the output that a server took writes after its restart and was made read-only, as it was before.
const closedAgain = "closed_again"

// staysClosed is the output of why a server that took writes before its restart refuses them now.
const staysClosed = "stays_closed" // journals hold it: it is never renamed

// notePart adds to a finding whether the server refuses writes, and what such a one wrote itself before. An option file may say otherwise for after a
// restart: that of a MariaDB whose part was changed by SQL alone, as a switchover of an existing cluster does.
func (s onServer) notePart(ctx context.Context, on *cluster.Cluster, f CheckResult) {
	refuses, known := on.RefusesWrites(ctx, s.Node)
	if !known {
		return
	}
	f.Observed[refusesFact] = refuses
	if own, is := s.restartable(ctx, on); refuses && is {
		if wrote, err := own.Wrote(ctx); err == nil {
			f.Observed[wroteFact] = wrote
		}
	}
}

func (s onServer) restartable(ctx context.Context, on *cluster.Cluster) (engine.Restartable, bool) {
	db, err := on.Database(ctx, s.Node)
	if err != nil {
		return nil, false
	}
	return engine.As[engine.Restartable](db)
}

// keepPart makes a server that was restarted refuse or take writes as it did before, as soon as it answers. It says what it changed. Seconds after
// a restart nobody has taken its place but who says so; after the run was resumed, a node that does not answer may have.
func (s onServer) keepPart(ctx context.Context, on *cluster.Cluster, c Call) (Facts, error) {
	was, noted := c.Before[refusesFact].(bool)
	now, known := on.RefusesWrites(ctx, s.Node)
	if !noted || !known || was == now {
		return nil, nil
	}
	defer on.RolesChanged()
	if was {
		return Facts{closedAgain: true}, s.setReadOnly(ctx, on, "ON")
	}
	err := cluster.Succeeded(ctx, on, s.Node)
	if err == nil && c.Resumed {
		err = cluster.Replaced(ctx, on, s.Node, false)
	}
	if err != nil {
		return Facts{staysClosed: err.Error()}, nil
	}
	return Facts{"opened_again": true}, s.setReadOnly(ctx, on, "OFF")
}

// noSecond closes a server that has started as a primary while another one is followed, and says so.
func (s onServer) noSecond(ctx context.Context, on *cluster.Cluster) error {
	other, err := on.OtherPrimary(ctx, s.Node)
	if err != nil || other == "" {
		return err
	}
	defer on.RolesChanged()
	if err := s.setReadOnly(ctx, on, "ON"); err != nil {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s has accepted writes since its start, as %s does, and cannot be made read-only: %v", s.Node, other, err),
			Advice: fmt.Sprintf("stop %s at once", s.Node)}
	}
	return nil
}

// opensAtStart refuses a server that refuses writes now and would accept them after its start, until Plimsoll has closed it again: clients would write
// there what no other server has. Where only its option file knows, it notes that and returns what a person is asked. A server whose settings Plimsoll
// writes is no concern: closeAtStart.
func (s onServer) opensAtStart(ctx context.Context, on *cluster.Cluster, f CheckResult) (asks string, err error) {
	n, err := on.Node(ctx, s.Node)
	if err != nil || f.Observed[refusesFact] != true {
		return "", err
	}
	own, is := s.restartable(ctx, on)
	if _, assignable := cluster.As[cluster.Assignable](n.Server); assignable || !is {
		return "", nil
	}
	at, keep, err := own.AtStart(ctx)
	const gap = "clients could write to it until Plimsoll has made it read-only again, and those rows would exist on no other server"
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil && at == engine.StartsReadOnly:
		return "", nil
	case err == nil && at == engine.StartsWritable:
		return "", &hint.PermanentError{Reason: fmt.Sprintf("%s refuses writes now, and nothing has it refuse them when it starts: %s", s.Node, gap), Advice: keep + ", then try again"}
	}
	f.Observed[startFact] = string(engine.StartsUnknown)
	asks = fmt.Sprintf("%s refuses writes now, and its option file decides whether it does when it starts: if not, %s. Make sure of it: %s", s.Node, gap, keep)
	if err != nil {
		asks += fmt.Sprintf(" (the server does not tell: %v)", err)
	}
	return asks, nil
}

// closeAtStart has a server of ours that refuses writes refuse them when it starts, too.
func (s onServer) closeAtStart(ctx context.Context, on *cluster.Cluster) error {
	n, err := on.Node(ctx, s.Node)
	if err != nil {
		return err
	}
	own, assignable := cluster.As[cluster.Assignable](n.Server)
	server, is := s.restartable(ctx, on)
	refuses, known := on.RefusesWrites(ctx, s.Node)
	if !assignable || !is || !known || !refuses {
		return nil
	}
	settings, err := own.Assigned(ctx)
	if err != nil || settings[refusesFact] == "ON" {
		return err
	}
	if at, _, err := server.AtStart(ctx); settings[refusesFact] == "" && (err != nil || at == engine.StartsReadOnly) {
		return err
	}
	return cluster.Reassign(ctx, own, map[string]string{refusesFact: "ON"})
}

// refuseWritten fails a start after which clients wrote to a server that had refused writes: no other server has these transactions.
func (s onServer) refuseWritten(ctx context.Context, on *cluster.Cluster, before Facts) error {
	had, noted := before[wroteFact].(string)
	own, is := s.restartable(ctx, on)
	if !noted || !is {
		return nil
	}
	wrote, err := own.WroteSince(ctx, had)
	if err != nil || wrote == "" {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s accepted writes after its start, and is read-only now: it wrote transactions itself that exist on no other server (%s)", s.Node, wrote),
		Advice: fmt.Sprintf("find these transactions in its binary log and execute those that you need on the primary; then plimsoll runbook cancel RUN --leave REASON, and seed %s again", s.Node),
	}
}

// openReplica says of a server that has started as a replica of its cluster that it accepts writes all the same. Some are meant to.
func (s onServer) openReplica(ctx context.Context, on *cluster.Cluster) Facts {
	if on.Engine == nil {
		return nil
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return nil
	}
	db, err := on.Database(ctx, s.Node)
	if err != nil {
		return nil
	}
	replicated, is := engine.As[engine.Replicated](db)
	if !is {
		return nil
	}
	status, err := replicated.ReplicationStatus(ctx)
	if err != nil || status.ReadOnly {
		return nil
	}
	for _, n := range nodes {
		if len(n.Target.Addresses) > 0 && n.Target.Addresses[0] == status.Follows() {
			return Facts{Next: fmt.Sprintf("%s accepts writes since its start, although it replicates from %s: if clients should not write to it, SET GLOBAL read_only = 1, and put that into its option file", s.Node, n.Name)}
		}
	}
	return nil
}

func (s onServer) setReadOnly(ctx context.Context, on *cluster.Cluster, value string) error {
	db, err := on.Database(ctx, s.Node)
	if err != nil {
		return err
	}
	c, ok := engine.As[engine.Configurable](db)
	if !ok {
		return fmt.Errorf("node %s: its engine has no setting read_only", s.Node)
	}
	if err := c.Change(ctx, refusesFact, value); err != nil {
		return fmt.Errorf("node %s: set read_only to %s after its start: %w", s.Node, value, err)
	}
	return nil
}
