package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"plimsoll/engine"
	"plimsoll/hint"
)

// Distinct refuses clusters of which two nodes are one server, by whatever addresses: of one cluster, or of two that a run changes
// together, each under its own lock. One that does not answer is not compared.
func Distinct(ctx context.Context, clusters ...*Cluster) error {
	type place struct{ cluster, node string }
	first := map[string]place{}
	for _, c := range clusters {
		nodes, identities, err := identities(ctx, c, len(clusters) > 1)
		if err != nil {
			return err
		}
		for i, is := range identities {
			here := place{c.Name, nodes[i].Name}
			other, known := first[is]
			if is == "" || !known {
				first[is] = here
				continue
			}
			which := fmt.Sprintf("nodes %s and %s of cluster %s", other.node, here.node, c.Name)
			if other.cluster != here.cluster {
				which = fmt.Sprintf("node %s of cluster %s and node %s of cluster %s", other.node, other.cluster, here.node, here.cluster)
			}
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s are the same server: both report %s", which, is),
				Advice: "list every server once in the inventory, with one address; if these are two servers, one is a copy of the other: give the copy an identity of its own",
			}
		}
	}
	return nil
}

// identities are what the nodes say of which servers they are, at the same time. One node alone is asked only if it is compared with others.
func identities(ctx context.Context, on *Cluster, alone bool) (nodes []Node, all []string, err error) {
	if on.Engine == nil {
		return nil, nil, nil
	}
	if nodes, err = on.List(ctx); err != nil {
		return nil, nil, fmt.Errorf("list the nodes of %s: %w", on.Name, err)
	}
	nodes = slices.Concat(nodes, on.Spares)
	if len(nodes) < 2 && !alone {
		return nil, nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	all = make([]string, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() { all[i] = identityOf(limited, on, n.Name) })
	}
	asking.Wait()
	return nodes, all, nil
}

// identityOf is what a node says of which server it is; "" if it does not.
func identityOf(ctx context.Context, on *Cluster, node string) string {
	if on.Hangs(node) {
		return ""
	}
	db, err := on.database(ctx, node, true)
	if err != nil {
		return ""
	}
	own, ok := engine.As[engine.Identifiable](db)
	if !ok {
		return ""
	}
	is, err := own.Identity(ctx)
	if err != nil {
		return ""
	}
	return is
}
