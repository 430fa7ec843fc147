package launch

import (
	"context"
	"errors"

	"plimsoll/engine"
	"plimsoll/infra"
)

var _ engine.Replicator = Servers{}

// ReplicationStatus connects to a node and asks it.
func (Servers) ReplicationStatus(ctx context.Context, _ infra.Machine, n engine.Node) (engine.ReplicationStatus, error) {
	db, err := open(ctx, n)
	if err != nil {
		return engine.ReplicationStatus{}, err
	}
	status, err := db.(engine.Replicated).ReplicationStatus(ctx)
	return status, errors.Join(err, db.Close())
}
