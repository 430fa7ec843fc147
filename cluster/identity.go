package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"plimsoll/engine"
	"plimsoll/hint"
)

// Distinct refuses a cluster of which two nodes are one server, by whatever addresses. One that does not answer is not compared.
func (s *Cluster) Distinct(ctx context.Context) error {
	if s.Engine == nil {
		return nil
	}
	nodes, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes of %s: %w", s.Name, err)
	}
	nodes = slices.Concat(nodes, s.Spares)
	if len(nodes) < 2 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	identities := make([]string, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() { identities[i] = s.identity(limited, n.Name) })
	}
	asking.Wait()
	first := map[string]string{}
	for i, n := range nodes {
		other := first[identities[i]]
		if other == "" || identities[i] == "" {
			first[identities[i]] = n.Name
			continue
		}
		return &hint.PermanentError{
			Reason: fmt.Sprintf("nodes %s and %s of cluster %s are one server: both say %s", other, n.Name, s.Name, identities[i]),
			Advice: "name every server once in the inventory, by one address; two servers that say the same are copies: give the copy an identity of its own",
		}
	}
	return nil
}

// identity is what a node says of which server it is; "" if it does not.
func (s *Cluster) identity(ctx context.Context, node string) string {
	db, err := s.database(ctx, node, true)
	if err != nil {
		return ""
	}
	own, ok := db.(engine.Identifiable)
	if !ok {
		return ""
	}
	is, err := own.Identity(ctx)
	if err != nil {
		return ""
	}
	return is
}
