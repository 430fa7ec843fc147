package labtest

import (
	"context"

	"plimsoll/cluster"
	"plimsoll/engine/mysql"
	"plimsoll/engine/mysql/launch"
	"plimsoll/infra"
	"plimsoll/lab"
)

// AsAWS is a cluster of servers dressed as RDS (rds-mysql) by the account that may do everything: for what AWS does to them, and their
// administrator may not.
func AsAWS(c *lab.Cluster, here infra.Machine) *cluster.Cluster {
	on := lab.AsCluster(c, mysql.Engine{}, here)
	inner := on.List
	on.List = func(ctx context.Context) ([]cluster.Node, error) {
		all, err := inner(ctx)
		for i := range all {
			all[i].Target = launch.AsOwner(all[i].Target)
		}
		return all, err
	}
	return on
}
