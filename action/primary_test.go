package action_test

import (
	"context"
	"errors"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// hanging opens n1 never and n2 at once.
type hanging struct {
	engine.Engine
	asked chan struct{}
}

func (e hanging) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	if t.Addresses[0] == "n2" {
		return &writes{}, nil
	}
	e.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestANodeThatHangsKeepsNobodyFromAnother(t *testing.T) {
	s := here(t)
	e := hanging{asked: make(chan struct{})}
	s.Engine = e
	s.List = func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{
			{Name: "n1", Target: engine.Target{Addresses: []string{"n1"}}}, {Name: "n2", Target: engine.Target{Addresses: []string{"n2"}}},
		}, nil
	}
	s.AskRoles()
	ctx, cancel := context.WithCancel(t.Context())
	asking := make(chan error)
	go func() {
		_, err := s.Primary(ctx)
		asking <- err
	}()
	<-e.asked // n1 hangs now, and whoever wants to know the primary waits for it
	if _, err := s.Database(t.Context(), "n2"); err != nil {
		t.Error(err)
	}
	impatient, giveUp := context.WithCancel(t.Context())
	giveUp()
	if _, err := s.Primary(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not wait for n1 hears %v", err)
	}
	s.RolesChanged() // nor does who says that the parts have changed
	select {
	case err := <-asking:
		t.Errorf("the primary was told before n1 was given up: %v", err)
	default:
	}
	cancel()
	if err := <-asking; !errors.Is(err, context.Canceled) {
		t.Errorf("asked for the primary: %v", err)
	}
}
