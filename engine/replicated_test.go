package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/engine"
)

func TestAServerThatHangsIsWaitedForOnlyWhileNoPrimaryIsKnown(t *testing.T) {
	primary, replica := &engine.ReplicationStatus{}, &engine.ReplicationStatus{Sources: []engine.Source{{Address: "a"}}}
	for _, c := range []struct {
		name   string
		others *engine.ReplicationStatus
		most   time.Duration
	}{
		{"one says that it is", primary, 2 * time.Second},
		{"none does", replica, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) { // whose clock is its own
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			standings, troubles := engine.ReplicationStatuses(ctx, 2, func(ctx context.Context, i int) (*engine.ReplicationStatus, error) {
				if i == 1 {
					return c.others, nil
				}
				<-ctx.Done()
				return nil, ctx.Err()
			})
			if standings[0] != nil || standings[1] != c.others || troubles[0] == nil || troubles[1] != nil {
				t.Errorf("%s: standings %v, troubles %v", c.name, standings, troubles)
			}
			if took := time.Since(began); took > c.most || c.others == replica && !errors.Is(troubles[0], context.DeadlineExceeded) {
				t.Errorf("%s: it took %s, %v", c.name, took, troubles[0])
			}
		})
	}
}
