package inventory

import (
	"strings"
	"testing"
)

func TestAServerInTwoClustersIsSaid(t *testing.T) {
	inv := &Inventory{Clusters: map[string]Cluster{
		"orders": {Nodes: []Node{{Name: "a", Address: "db-a:3306"}, {Name: "b", Address: "db-b:3306"}}},
		"old":    {Nodes: []Node{{Name: "x", Address: "DB-B:3306"}}},
		"alone":  {Nodes: []Node{{Name: "y", Address: "db-y:3306"}}},
	}}
	if all := inv.Shared("orders"); len(all) != 1 || !strings.Contains(all[0], "node b of cluster orders is also node x of cluster old") {
		t.Errorf("%q", all)
	}
	if all := append(inv.Shared("alone"), inv.Shared("nosuch")...); len(all) != 0 {
		t.Errorf("%q", all)
	}
}
