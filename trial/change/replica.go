package change

import (
	"context"

	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// attachReplica adds a node to the cluster that begins with a copy of the first node's data and follows it. The first
// node is stopped for the copy: it belongs into a variant's prepare.
type attachReplica struct{}

var _ spec.Growing = attachReplica{}

func (attachReplica) Name() string { return "mysql/attach-replica" }

// Grows says that there is one node more.
func (attachReplica) Grows() int { return 1 }

// Check refuses inputs: there are none.
func (attachReplica) Check(c spec.Call, _ int) error {
	if c.With != nil && len(c.With.Entries) > 0 {
		return document.UnknownKey(c.With.Entries[0], nil)
	}
	return nil
}

func (a attachReplica) Run(ctx context.Context, on *lab.Cluster, _ spec.Call, tell func(series.Event)) error {
	name, err := on.Growth().Add(ctx)
	if err != nil {
		return err
	}
	tell(series.Event{Kind: series.ReplicaAttached, Name: a.Name(), Node: name})
	return nil
}
