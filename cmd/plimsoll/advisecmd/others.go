package advisecmd

import (
	"context"
	"maps"
	"slices"
	"time"

	"plimsoll/advise"
	"plimsoll/cluster"
)

// otherCounts are what the servers of a cluster but the observed one had counted, by their names. Those that do not answer are left out.
type otherCounts map[string]counts

// answersWithin is how long another server has for its counters, which are not worth a longer wait.
const answersWithin = 5 * time.Second

func countOthers(ctx context.Context, on *cluster.Cluster, but cluster.Node) otherCounts {
	all := otherCounts{}
	nodes, err := on.List(ctx)
	if err != nil {
		return all
	}
	for _, n := range nodes {
		if n.Name != but.Name {
			all.count(ctx, on, n.Name)
		}
	}
	return all
}

func (o otherCounts) count(ctx context.Context, on *cluster.Cluster, node string) {
	limited, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	db, err := on.Database(limited, node)
	if err != nil {
		return
	}
	if c, err := counted(limited, db); err == nil && c.known {
		o[node] = c
	}
}

// since is what they were asked for from then on. One that was started meanwhile counts from nothing, and is left out.
func (o otherCounts) since(ctx context.Context, on *cluster.Cluster) (all []advise.OtherLoad) {
	now := otherCounts{}
	for _, node := range slices.Sorted(maps.Keys(o)) {
		now.count(ctx, on, node)
		first, last := o[node], now[node]
		over := last.at.Sub(first.at).Seconds()
		if !last.known || over <= 0 || last.cache.Uptime < first.cache.Uptime {
			continue
		}
		all = append(all, advise.OtherLoad{
			Node: node, Requests: float64(last.cache.Requests-first.cache.Requests) / over, Reads: float64(last.cache.Read-first.cache.Read) / over,
		})
	}
	return all
}
