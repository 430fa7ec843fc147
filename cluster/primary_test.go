package cluster

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/engine"
)

// hangs is a server that lets every question wait as long as it hangs, and is the primary otherwise.
type hangs struct {
	engine.Database
	hanging *bool
}

func (h hangs) ReplicationStatus(ctx context.Context) (engine.ReplicationStatus, error) {
	if *h.hanging {
		<-ctx.Done()
		return engine.ReplicationStatus{}, ctx.Err()
	}
	return engine.ReplicationStatus{}, nil
}

func (hangs) Close() error { return nil }

func TestAPrimaryThatHangsIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging := true
		nodes := []Node{{Name: "n1", Target: engine.Target{Addresses: []string{"n1:3306"}}}, {Name: "n2", Target: engine.Target{Addresses: []string{"n2:3306"}}}}
		on := &Cluster{Name: "c", Engine: opens{hangs{hanging: &hanging}}, List: func(context.Context) ([]Node, error) { return nodes, nil }}
		on.AskRoles()
		ask := func() (time.Duration, error) {
			began := time.Now()
			_, err := on.Primary(t.Context())
			took := time.Since(began)
			time.Sleep(time.Minute) // the answer no longer holds
			return took, err
		}
		for n, want := range []time.Duration{answerTime, HungTime, HungTime} {
			if took, err := ask(); took != want || !errors.Is(err, ErrNoPrimary) {
				t.Errorf("question %d took %s: %v, expected %s and no primary", n+1, took, err, want)
			}
			if !on.Hangs("n1") {
				t.Errorf("after question %d it is not said to hang", n+1)
			}
		}
		hanging = false
		if took, err := ask(); took != 0 || err != nil {
			t.Errorf("once it answers again: %s, %v", took, err)
		}
		if on.Hangs("n1") {
			t.Error("it is said to hang although it answered")
		}
		hanging = true
		if took, _ := ask(); took != answerTime {
			t.Errorf("one that answered before is waited for %s, expected %s", took, answerTime)
		}
	})
}

// plays is an engine of which each server plays a part.
type plays struct {
	engine.Engine
	parts map[string]engine.ReplicationStatus // by address
}

func (p plays) Open(_ context.Context, t engine.Target) (engine.Database, error) {
	return part{is: p.parts[t.Addresses[0]]}, nil
}

type part struct {
	engine.Database
	is engine.ReplicationStatus
}

func (p part) ReplicationStatus(context.Context) (engine.ReplicationStatus, error) { return p.is, nil }
func (part) Close() error                                                          { return nil }

func TestAllWhoAcceptWritesAreKnown(t *testing.T) {
	nodes := []Node{{Name: "n1", Target: engine.Target{Addresses: []string{"n1:3306"}}}, {Name: "n2", Target: engine.Target{Addresses: []string{"n2:3306"}}}}
	for _, readOnly := range []bool{false, true} {
		on := &Cluster{Name: "c", Engine: plays{parts: map[string]engine.ReplicationStatus{"n1:3306": {ServerID: "1"}, "n2:3306": {ServerID: "2", ReadOnly: readOnly}}},
			List: func(context.Context) ([]Node, error) { return nodes, nil }}
		on.AskRoles()
		want := []string{"n1", "n2"}
		if readOnly {
			want = want[:1]
		}
		if got := on.Writers(t.Context()); !slices.Equal(got, want) {
			t.Errorf("n2 read-only: %v: %v accept writes, expected %v", readOnly, got, want)
		}
	}
}
