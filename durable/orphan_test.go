package durable

import (
	"testing"
	"time"
)

func TestALeaseOfARunThatWasNeverMadeIsGivenBackWhenItRanOut(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, o Options) {
		s := open(t, o)
		if err := s.Create(t.Context(), "made", nil); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			holder string
			ttl    time.Duration
			freed  bool
		}{{"made", -time.Second, false}, {"unmade", time.Hour, false}, {"unmade", -time.Second, true}} {
			if _, err := s.Acquire(t.Context(), c.holder, c.holder, c.ttl); err != nil {
				t.Fatal(err)
			}
			freed, err := s.ReleaseOrphan(t.Context(), c.holder)
			if lease, reading := s.Lease(t.Context(), c.holder); err != nil || reading != nil || freed != c.freed || (lease.Holder == "") != c.freed {
				t.Errorf("%+v: freed %v, held by %q, %v, %v", c, freed, lease.Holder, err, reading)
			}
		}
	})
}
