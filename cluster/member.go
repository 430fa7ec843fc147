package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
)

// ringTime is how long a node may take to say who the members of its ring are: to be sure of one who is silent takes it ten seconds.
const ringTime = 30 * time.Second

// leftRing refuses to remove a node while the others of a ring count it as a member: its data would be lost, and they would wait for it. It
// refuses nothing where the servers form no ring, or where no other answers.
func leftRing(ctx context.Context, on *Cluster, nodes []Node, node string, addresses []string) error {
	var silent []error
	for _, n := range nodes {
		if n.Name == node || len(n.Target.Addresses) == 0 {
			continue
		}
		ring, is, err := ringSeenBy(ctx, on, n)
		if err != nil {
			silent = append(silent, err)
			continue
		}
		if !is {
			return nil
		}
		for _, address := range addresses {
			if m, is := ring.Find(address); is {
				return &hint.PermanentError{
					Reason: fmt.Sprintf("%s is still a member of the ring (%s, as %s sees it), and cannot be removed", node, m.Code(), n.Name),
					Advice: fmt.Sprintf("take it out of the ring first: plimsoll runbook plan cql/remove-node --cluster %[1]s -i node=%[2]s; if it does not start any more: plimsoll runbook plan cql/replace-node --cluster %[1]s -i dead=%[2]s", hint.Quoted(on.Name), hint.Quoted(node)),
				}
			}
		}
		return nil
	}
	if ctx.Err() != nil {
		return errors.Join(silent...)
	}
	return nil
}

// ringSeenBy is the ring as a node sees it; is tells whether its server is part of one at all.
func ringSeenBy(ctx context.Context, on *Cluster, n Node) (ring engine.Ring, is bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, ringTime)
	defer cancel()
	db, err := on.Database(ctx, n.Name)
	if err != nil {
		return ring, false, err
	}
	ringed, is := engine.As[engine.Ringed](db)
	if !is {
		return ring, false, nil
	}
	if ring, err = ringed.Ring(ctx, n.Target.Addresses[0]); err != nil {
		return ring, true, fmt.Errorf("ask node %s about the ring: %w", n.Name, err)
	}
	return ring, true, nil
}
