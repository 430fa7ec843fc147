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

// staysClosed is the output of why a server that took writes before its restart refuses them now.
const staysClosed = "stays_closed" // journals hold it: it is never renamed

// notePart adds to a finding whether the server refuses writes. An option file may say otherwise for after a restart: that of a
// MariaDB whose part was changed by SQL alone, as a switchover of an existing cluster does.
func (s onServer) notePart(ctx context.Context, on *cluster.Cluster, f CheckResult) {
	if refuses, known := on.RefusesWrites(ctx, s.Node); known {
		f.Observed[refusesFact] = refuses
	}
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
		return Facts{"closed_again": true}, s.setReadOnly(ctx, on, "ON")
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
