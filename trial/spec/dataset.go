package spec

import (
	"slices"
	"strconv"

	"plimsoll/internal/document"
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

// Dataset is where load goes: nodes that are one data set, and its name on them.
type Dataset struct {
	Nodes     []string
	Namespace string
}

// Namespace is the database that a trial's data set stands in, if there is one.
const Namespace = "plimsoll"

// Datasets are where a cell's load goes: all nodes as one cluster, or each that it names as a server of its own, with a
// database of its own, so that one replica can hold all of them.
func (c *Cell) Datasets(nodes []string) []Dataset {
	if len(c.Load.On) == 0 {
		return []Dataset{{nodes, Namespace}}
	}
	var all []Dataset
	for i, node := range c.Load.On {
		all = append(all, Dataset{[]string{node}, "app" + strconv.Itoa(i+1)})
	}
	return all
}

// checkOn refuses nodes that the cluster does not have, and what cannot be spread over several.
func (c *Cell) checkOn(n *document.Node) error {
	if len(c.Load.On) == 0 {
		return nil
	}
	var ps document.Problems
	on := n.Get("on")
	for i, node := range c.Load.On {
		number, err := strconv.Atoi(node[min(1, len(node)):])
		if err != nil || node[:1] != "n" || number < 1 || number > c.Cluster.Nodes || slices.Contains(c.Load.On[:i], node) {
			ps.Add(on.Items[i], on.Items[i].Errorf("node %q, expected each once of n1 to n%d", node, c.Cluster.Nodes))
		}
	}
	switch {
	case c.Cluster.Topology != Separate:
		ps.Add(on, on.Errorf("load on single nodes needs independent servers").WithHint("cluster: {topology: separate}"))
	case c.Load.Ledger != nil || c.Ledger != nil:
		ps.Add(on, on.Errorf("a ledger is kept on one data set, not on several"))
	case c.Load.To == ToAll:
		ps.Add(on, on.Errorf("to: all is for one data set on all nodes; on is for a data set on each node"))
	case len(c.Load.From) > 0:
		ps.Add(on, on.Errorf("loader processes can only use one data set, not several"))
	}
	return ps.Err()
}
