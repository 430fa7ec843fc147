package channel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
)

// othersOpen is the fact of who took writes, beside the two servers that are meant, when they were looked at. Servers that have nothing to do
// with one another may all take writes; one that does since may have taken the place of one of the two.
const othersOpen = "other nodes that take writes" // journals hold it: it is never renamed

// newWriter is a node that takes writes now and did not when the facts were observed, beside the two servers that are meant; "" if there is none.
func newWriter(ctx context.Context, on *cluster.Cluster, before action.Facts, first, second string) (string, error) {
	was, known := before[othersOpen].(string)
	if !known {
		return "", nil
	}
	writable, err := otherWriters(ctx, on, first, second)
	if err != nil {
		return "", err
	}
	for _, node := range writable {
		if !slices.Contains(strings.Split(was, ", "), node) {
			return node, nil
		}
	}
	return "", nil
}

// otherWriters lists the nodes, beside two, that say that they take writes: of the run's cluster, and of those that the two belong to.
func otherWriters(ctx context.Context, on *cluster.Cluster, first, second string) ([]string, error) {
	clusters := map[string]*cluster.Cluster{"": on}
	var two []string
	for _, node := range []string{first, second} {
		address, err := addressOf(ctx, on, node)
		if err != nil {
			return nil, err
		}
		two = append(two, address)
		if name, _, other := strings.Cut(node, "/"); other {
			if clusters[name+"/"], err = on.Cluster(ctx, name); err != nil {
				return nil, err
			}
		}
	}
	var all []string
	for prefix, of := range clusters {
		nodes, err := of.List(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the nodes of %s: %w", of.Name, err)
		}
		for _, n := range nodes {
			address, err := addressOf(ctx, of, n.Name)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(two, address) && of.Leads(ctx, n.Name) {
				all = append(all, prefix+n.Name)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}
