package change

import (
	"context"

	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial"
)

// restore brings the cluster back to the copy of its data that the trial began with, as a restore from a snapshot does.
type restore struct{}

var _ trial.Change = restore{}

func (restore) Name() string { return "lab/restore" }

func (r restore) Check(c trial.Call, _ int) error {
	if c.With == nil {
		return nil
	}
	return c.With.Decode(&struct{}{})
}

func (r restore) Run(ctx context.Context, on *lab.Cluster, _ trial.Call, tell func(series.Event)) error {
	tell(series.Event{Kind: series.ClusterRestore, Name: r.Name()})
	if err := on.Restore(ctx); err != nil {
		return err
	}
	tell(series.Event{Kind: series.ClusterServes, Name: r.Name()})
	return nil
}
