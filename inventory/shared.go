package inventory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Shared says which nodes of a cluster stand in another one too, by the same address: whoever changes one of the two clusters does not
// see the lock of the other. Nobody is asked; a server that has two addresses is not found by this.
func (inv *Inventory) Shared(cluster string) (all []string) {
	own, ok := inv.Clusters[cluster]
	if !ok {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(inv.Clusters)) {
		if name == cluster {
			continue
		}
		for _, other := range inv.Clusters[name].Nodes {
			for _, n := range own.Nodes {
				if n.Address != "" && strings.EqualFold(n.Address, other.Address) {
					all = append(all, fmt.Sprintf("node %s of cluster %s is also node %s of cluster %s (%s): a lock on one cluster does not lock the other", n.Name, cluster, other.Name, name, n.Address))
				}
			}
		}
	}
	return all
}
