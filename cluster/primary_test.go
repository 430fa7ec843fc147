package cluster

import (
	"context"
	"errors"
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
