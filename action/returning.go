package action

import (
	"context"

	"plimsoll/cluster"
)

// repairOutput is the output of a start or a restart that the node must be repaired: "yes", or it is not there.
const repairOutput = "repair"

// mayReturn refuses to start a server whose data must not come back to its cluster, and tells whether the node must be repaired afterwards.
func (s onServer) mayReturn(ctx context.Context, on *cluster.Cluster) (repair bool, err error) {
	if on.Returning == nil {
		return false, nil
	}
	return on.Returning(ctx, s.Node)
}
