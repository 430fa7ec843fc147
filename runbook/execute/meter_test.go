package execute

import (
	"context"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/runbook/runbooktest"
)

// uneven is an engine of whose nodes n1 lets nobody in and n2 shows one number.
type uneven struct {
	engine.Engine
	read func() // called when n2 is asked
}

func (uneven) Name() string { return "uneven" }

func (e uneven) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	if t.Addresses[0] == "n2" {
		return shows{read: e.read}, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

type shows struct {
	engine.Database
	read func()
}

func (s shows) Readings(context.Context) ([]engine.Reading, error) {
	s.read()
	return []engine.Reading{{Signal: "threads", Value: 7}}, nil
}

func TestANodeThatHangsHidesNoOther(t *testing.T) {
	t.Parallel()
	on, err := runbooktest.NewCluster("lab1", "lab")
	if err != nil {
		t.Fatal(err)
	}
	on.List = func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{
			{Name: "n1", Target: engine.Target{Addresses: []string{"n1"}}}, {Name: "n2", Target: engine.Target{Addresses: []string{"n2"}}},
		}, nil
	}
	ctx, over := context.WithCancel(t.Context())
	on.Engine = uneven{read: over}
	values, err := NewNodeMeter(on).Read(ctx)
	if err != nil || values["threads"] != 7 {
		t.Errorf("read %v, %v", values, err)
	}
}

func (shows) PendingWork(context.Context) ([]engine.Pending, error) { return nil, nil }
