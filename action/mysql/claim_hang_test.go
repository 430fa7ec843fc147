package mysql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// hangs is a server that lets every question wait, as a frozen one does. It is no real server: the time that is waited for one is what is
// looked at, in a bubble with a clock of its own.
type hangs struct{ engine.Database }

func (hangs) ReplicationStatus(ctx context.Context) (engine.ReplicationStatus, error) {
	<-ctx.Done()
	return engine.ReplicationStatus{}, ctx.Err()
}

func (hangs) Facts(ctx context.Context) (engine.Facts, error) {
	<-ctx.Done()
	return engine.Facts{}, ctx.Err()
}

func (hangs) Session(ctx context.Context) (engine.Session, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangs) Close() error { return nil }

// opensHangs is an engine whose servers hang.
type opensHangs struct{ engine.Engine }

func (opensHangs) Open(context.Context, engine.Target) (engine.Database, error) { return hangs{}, nil }

// A claim is asked for at every entry of a journal: a node that is known to hang may not take all of its time there again and again.
func TestAClaimWaitsForANodeThatHangsOnlyAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := []cluster.Node{{Name: "n1", Target: engine.Target{Addresses: []string{"n1:3306"}}}, {Name: "n2", Target: engine.Target{Addresses: []string{"n2:3306"}}}}
		on := &cluster.Cluster{Name: "c", Engine: opensHangs{}, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
		on.AskRoles()
		m := NewClusterLock(on)
		look := func() time.Duration {
			began := time.Now()
			if answered, silent, err := m.lookAt(t.Context(), names(nodes), action.Claim{Cluster: "c", Run: "r1"}, ""); err != nil || len(answered) > 0 || silent == nil {
				t.Errorf("answered %v, %v, %v", answered, silent, err)
			}
			return time.Since(began)
		}
		if took := look(); took != anyNode {
			t.Errorf("nodes of which nothing is known are waited for %s, expected %s", took, anyNode)
		}
		if _, err := on.Primary(t.Context()); err == nil {
			t.Error("a primary among servers that hang")
		}
		if took := look(); took != cluster.HungTime {
			t.Errorf("nodes that are known to hang are waited for %s, expected %s", took, cluster.HungTime)
		}
	})
}

// A claim that was given back is nobody's: a plan that only looks says of no run that it holds the cluster, or held it in the meantime.
func TestALookFindsNobodyInAClaimThatWasGivenBack(t *testing.T) {
	m := NewClusterLock(&cluster.Cluster{Name: "c"})
	row := []string{"", "", "7", "5000000", "1000000", "0"}
	if err := m.compare(action.Claim{Cluster: "c"}, row); err != nil {
		t.Errorf("given back: %v", err)
	}
	row[0], row[1] = "r1", "ann@host"
	if err := m.compare(action.Claim{Cluster: "c"}, row); err == nil || !strings.Contains(err.Error(), "run r1 of ann@host") {
		t.Errorf("held: %v", err)
	}
}

// Where there is no primary a claim ends with its process, so another run may have the cluster within seconds, and give it back: the first
// one does not go on.
func TestARunFindsThatAnotherHadItsClusterSoonAfterItsProcessDied(t *testing.T) {
	m := NewClusterLock(&cluster.Cluster{Name: "c"})
	for _, taken := range []struct {
		first time.Duration // how long ago the run first had it
		ago   string        // how long ago another took it, by the server's clock
		past  bool
	}{
		{50 * time.Second, "37000000", true},
		{50 * time.Second, "44000000", true},
		{50 * time.Second, "51000000", false},
		{time.Second, "-2000000", false}, // the server's clock is behind that of who wrote it
	} {
		c := action.Claim{Cluster: "c", Run: "r1", Epoch: 3, For: 30 * time.Second, Held: true, Since: time.Now().Add(-taken.first)}
		var claimed *action.ClaimedError
		err := m.compare(c, []string{"", "", "4", taken.ago, "1000000", "0"})
		if past := errors.As(err, &claimed) && claimed.Past(); past != taken.past {
			t.Errorf("first had %s ago, taken %s µs ago by another: %v", taken.first, taken.ago, err)
		}
	}
}
