package cql

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// centerOf is the data centre that a node which does not run is going to be of; "" if that is not known before it starts.
func centerOf(ctx context.Context, n cluster.Node) (string, error) {
	s, ok := cluster.As[cluster.Assignable](n.Server)
	if !ok {
		return "", nil
	}
	own, err := s.Assigned(ctx)
	return own["dc"], err
}

// misplaced refuses a node of a data centre in which nobody else is, or, when it takes a dead one's place, that was not the
// dead one's: it would hold none of the data that it is meant for.
func (v view) misplaced(n cluster.Node, center string, dead *engine.Member) error {
	if center == "" {
		return nil
	}
	advice := "the ring's data is safe: no keyspace has replicas there. If the node has been started, plimsoll runbook cancel RUN --undo removes it again. " +
		"Correct its data centre (dc in cassandra-rackdc.properties), empty its data folder, and begin a new run"
	if dead != nil && dead.DataCentre != center {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("node %s is in data centre %s, but should replace a node in %s", n.Name, center, dead.DataCentre), Advice: advice,
		}
	}
	own := v.member(n)
	if slices.ContainsFunc(v.Members, func(m engine.Member) bool { return m.DataCentre == center && (own == nil || m.Host != own.Host) }) {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("node %s is in data centre %s, which has no other member: no keyspace has replicas there", n.Name, center), Advice: advice,
	}
}
