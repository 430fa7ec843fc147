package cql

import (
	"context"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// comparison is what a repair of a node has to compare, keyspace by keyspace.
type comparison struct {
	of     string           // the node's address
	before map[string]bool  // repairs that were there before it
	weight map[string]int64 // of each keyspace: the bytes that the node has of it, and a little for the work that each is
	told   float64          // the share that was told last
}

// little is what a keyspace without data weighs.
const little = 1 << 20

// onlyAsked is the keyspace that nodetool repairs only if it is named (CASSANDRA-9621).
const onlyAsked = "system_distributed"

// repairing is what is asked of a ring about its repairs.
type repairing interface {
	Repairs(ctx context.Context, asked string) ([]engine.Repair, error)
}

// compares looks what a repair will have to compare; nil if that cannot be told.
func (u *upkeep) compares(ctx context.Context, on *cluster.Cluster, r *ring, n cluster.Node) *comparison {
	v, err := r.viewOf(ctx, n)
	if err != nil {
		return nil
	}
	c := &comparison{of: n.Target.Addresses[0], before: map[string]bool{}, weight: map[string]int64{u.Keyspace: little}}
	repairs, err := v.db.Repairs(ctx, c.of)
	if err != nil {
		return nil
	}
	for _, one := range repairs {
		c.before[one.ID] = true
	}
	if u.Keyspace != "" {
		return c
	}
	sizes, err := v.db.Sizes(ctx, c.of)
	if err != nil {
		return nil
	}
	all, err := keyspaces(ctx, on, n.Name)
	if err != nil {
		return nil
	}
	delete(c.weight, "")
	for _, k := range all {
		if k.name != onlyAsked && k.replicated() {
			c.weight[k.name] = sizes[k.name] + little
		}
	}
	return c
}

// replicated tells whether there are replicas to compare.
func (k keyspace) replicated() bool {
	all := 0
	for _, n := range k.replicas {
		all += n
	}
	return all > 1
}

// share is how much of it the node has compared, as it says itself; negative if it says nothing.
func (c *comparison) share(ctx context.Context, db repairing) float64 {
	repairs, err := db.Repairs(ctx, c.of)
	if err != nil {
		return c.known()
	}
	var done, all float64
	for _, weight := range c.weight {
		all += float64(weight)
	}
	for _, one := range repairs {
		weight := float64(c.weight[one.Keyspace])
		switch {
		case c.before[one.ID]:
		case one.Over:
			done += weight
		case one.Ranges > 0:
			done += weight * min(one.Done/one.Ranges, 1)
		}
	}
	if all > 0 {
		c.told = max(c.told, min(done/all, 1))
	}
	return c.known()
}

func (c *comparison) known() float64 {
	if c.told == 0 {
		return -1
	}
	return c.told
}
