package cql

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/cluster"
	"plimsoll/hint"
)

// strangers refuses while a node that does not run is listed and is no member: what a change that was not finished left, and what
// nobody can wait for. But those that are named: one that is to be replaced may be forgotten already, one that is to join comes yet.
func (v view) strangers(ctx context.Context, but ...string) error {
	for _, n := range v.ring.nodes {
		if slices.Contains(but, n.Name) || n.Server == nil || v.member(n) != nil {
			continue
		}
		if running, err := n.Server.Running(ctx); err == nil && !running { // one that runs may be on its way in, or out
			return stranger(n)
		}
	}
	return nil
}

// stranger refuses a node that the ring does not have: to restart it could have it join.
func stranger(n cluster.Node) *hint.PermanentError {
	return &hint.PermanentError{Reason: fmt.Sprintf("node %s is not a member of the ring", n.Name),
		Advice: "a change that did not finish may have left it: plimsoll runbook status shows such a run, and how to undo it; if there is none, cql/remove-node -i node=" + n.Name +
			" removes it in a lab; in the inventory, delete it or mark it spare: true"}
}
