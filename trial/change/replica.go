package change

import (
	"context"
	"fmt"

	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial"
)

// attachReplica starts a replica that the cluster has in reserve: it takes up replication where its copy of the data
// stands, and is attached when it follows.
type attachReplica struct{}

var (
	_ trial.Change  = attachReplica{}
	_ trial.Reserve = attachReplica{}
)

func (attachReplica) Name() string { return "mysql/attach-replica" }

// Reserves asks for one node more than the cell's cluster has.
func (attachReplica) Reserves(trial.Call) int { return 1 }

// Check refuses inputs: there are none.
func (attachReplica) Check(c trial.Call, _ int) error {
	if c.With != nil && len(c.With.Entries) > 0 {
		return document.UnknownKey(c.With.Entries[0], nil)
	}
	return nil
}

func (attachReplica) Run(ctx context.Context, on *lab.Cluster, _ trial.Call, tell func(series.Event)) error {
	for _, node := range on.Nodes() {
		if node.State != lab.Stopped {
			continue
		}
		if err := on.Start(ctx, node.Name); err != nil {
			return err
		}
		tell(series.Event{Kind: "replica.attached", Name: "mysql/attach-replica", Node: node.Name})
		return nil
	}
	return fmt.Errorf("no node is left to attach in cluster %s", on.Name())
}
