package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
)

// Topology is what the nodes of a cluster have to do with one another.
type Topology string

// The topologies.
const (
	Together Topology = ""         // one data set: a primary and its replicas, a ring
	Separate Topology = "separate" // nothing
)

// UnmarshalDocument reads a topology.
func (t *Topology) UnmarshalDocument(n *document.Node) error {
	*t = Topology(n.Text)
	if *t != Separate {
		return document.UnknownName(n, "topology", []string{string(Separate)})
	}
	return nil
}

// dataset is where load goes: nodes that are one data set, and its name on them.
type dataset struct {
	nodes     []string
	namespace string
}

// namespace is the database that a trial's data set stands in, if there is one.
const namespace = "plimsoll"

// datasets are where a cell's load goes: all nodes as one cluster, or each that it names as a server of its own, with a
// database of its own, so that one replica can hold all of them.
func (c *cell) datasets(nodes []string) []dataset {
	if len(c.load.On) == 0 {
		return []dataset{{nodes, namespace}}
	}
	var all []dataset
	for i, node := range c.load.On {
		all = append(all, dataset{[]string{node}, "app" + strconv.Itoa(i+1)})
	}
	return all
}

// checkOn refuses nodes that the cluster does not have, and what cannot be spread over several.
func (c *cell) checkOn(n *document.Node) error {
	if len(c.load.On) == 0 {
		return nil
	}
	var ps document.Problems
	on := n.Get("on")
	for i, node := range c.load.On {
		number, err := strconv.Atoi(node[min(1, len(node)):])
		if err != nil || node[:1] != "n" || number < 1 || number > c.cluster.Nodes || slices.Contains(c.load.On[:i], node) {
			ps.Add(on.Items[i], on.Items[i].Errorf("node %q, expected each once of n1 to n%d", node, c.cluster.Nodes))
		}
	}
	switch {
	case c.cluster.Topology != Separate:
		ps.Add(on, on.Errorf("load on single nodes needs servers of their own").WithHint("cluster: {topology: separate}"))
	case c.load.Ledger != nil || c.ledger != nil:
		ps.Add(on, on.Errorf("a ledger is kept on one data set, not on several"))
	case c.load.To == ToAll:
		ps.Add(on, on.Errorf("to: all is for one data set on all nodes, on for one on each"))
	case len(c.load.From) > 0:
		ps.Add(on, on.Errorf("loader processes issue to one data set, not to several"))
	}
	return ps.Err()
}

// openAll opens some data sets as their administrator.
func (s *servers) openAll(ctx context.Context, sets []dataset) ([]engine.Database, error) {
	return each(sets, func(d dataset) (engine.Database, error) { return s.open(ctx, d) })
}

// openLoads opens them as the user who loads, in the way of the cell's load.
func (c *cell) openLoads(ctx context.Context, s *servers, sets []dataset) ([]engine.Database, error) {
	return each(sets, func(d dataset) (engine.Database, error) { return s.openLoad(ctx, c.load, d) })
}

// each opens all or none.
func each(sets []dataset, open func(dataset) (engine.Database, error)) ([]engine.Database, error) {
	var all []engine.Database
	for _, d := range sets {
		db, err := open(d)
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, db)
	}
	return all, nil
}

func closeAll(all []engine.Database) error {
	var errs []error
	for _, db := range all {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}

// adopt fits the workload, and the ledger beside it, to the data that is there.
func (c *cell) adopt(ctx context.Context, all []engine.Database) error {
	for _, db := range all {
		if err := c.workload.Adopt(ctx, db); err != nil {
			return fmt.Errorf("look at the data of %s: %w", c.load.Workload, err)
		}
		if c.beside == nil {
			continue
		}
		if err := c.beside.Adopt(ctx, db); err != nil {
			return fmt.Errorf("look at the ledger: %w", err)
		}
	}
	return nil
}

// connect makes clients that are dealt out to the data sets in turn: as many for each, whatever becomes of the others.
func (c *cell) connect(all []engine.Database, seed uint64) load.Connect {
	each := make([]load.Connect, len(all))
	for i, db := range all {
		each[i] = c.workload.Connect(db, seed+uint64(i)<<32)
	}
	return func(ctx context.Context, worker int) (load.Client, error) {
		return each[worker%len(each)](ctx, worker/len(each))
	}
}
