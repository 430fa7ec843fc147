package action_test

import (
	"context"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// opening is playing whose servers take writes when they are told to.
type opening struct{ playing }

func (e opening) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	db, err := e.playing.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return opened{part: db.(part)}, nil
}

type opened struct {
	part
	engine.Configurable
}

func (o opened) Change(_ context.Context, _, value string) error {
	o.is.ReadOnly = value == "ON"
	return nil
}

// A primary that a run restarts takes writes again although the replica between it and another died meanwhile; but not after the run was resumed,
// when the dead one may have become the primary.
func TestARestartedPrimaryTakesWritesAgainBesideADeadReplicaThatIsFollowed(t *testing.T) {
	for name, resumed := range map[string]bool{"in one session": false, "resumed": true} {
		t.Run(name, func(t *testing.T) {
			now := playing{"n1": {ReadOnly: true}, "n3": {ReadOnly: true, Sources: []engine.Source{{Address: "n2"}}}}
			on := &cluster.Cluster{Name: "c", Engine: opening{now}, List: func(context.Context) ([]cluster.Node, error) {
				all := []cluster.Node{{Name: "n1", Server: &stoppable{running: true}}, {Name: "n2"}, {Name: "n3"}}
				for i := range all {
					all[i].Target = engine.Target{Addresses: []string{all[i].Name}}
				}
				return all, nil
			}}
			on.AskRoles()
			defer func() { _ = on.Close() }()
			task := actiontest.Task(t, action.Servers(), "server.restart", "node: n1")
			before := action.Facts{"process": "1", "read_only": false}
			out, err := task.Act(t.Context(), on, action.Call{Before: before, Resumed: resumed, Progress: func(float64, string) {}})
			if err != nil || now["n1"].ReadOnly != resumed || (out["stays_closed"] != nil) != resumed {
				t.Errorf("%v, %v, read only %v", out, err, now["n1"].ReadOnly)
			}
		})
	}
}
