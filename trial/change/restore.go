package change

import (
	"context"

	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// restore brings the cluster back to the copy of its data that the trial began with, as a restore from a snapshot does.
type restore struct{}

var _ spec.Change = restore{}

func (restore) Name() string { return "lab/restore" }

func (r restore) Check(c spec.Call, _ int) error {
	if c.With == nil {
		return nil
	}
	return c.With.Decode(&struct{}{})
}

func (r restore) Run(ctx context.Context, on *lab.Cluster, _ spec.Call, tell func(series.Event)) error {
	tell(series.Event{Kind: series.ClusterRestore, Name: r.Name()})
	if err := on.Restore(ctx); err != nil {
		return err
	}
	tell(series.Event{Kind: series.ClusterServes, Name: r.Name()})
	return nil
}
