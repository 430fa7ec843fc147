package caches

import (
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
)

func TestWhatTheCountersOfACacheAllowToSay(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name             string
		capacity, size   int64
		requests, hits   int64
		ratio, perSecond float64
		says             string
	}{
		{"off", 0, 0, 0, 0, 0, 0, "it is off"},
		{"off and asked", 0, 0, 100, 0, 0, 10, "it is off, but its counters show requests"},
		{"idle", 50 * mib, 40 * mib, 0, 0, 0, 0, "it gets no requests"},
		{"room", 50 * mib, 10 * mib, 1000, 750, 0.75, 100, "it is not full"},
		{"full", 50 * mib, 49 * mib, 1000, 900, 0.9, 100, "its counters do not show"},
	} {
		before := engine.Cache{Node: "a", Name: c.name, Capacity: c.capacity, Size: c.size, Requests: 5000, Hits: 10}
		after := before
		after.Requests, after.Hits = before.Requests+c.requests, before.Hits+c.hits
		seen := between([]engine.Cache{before}, []engine.Cache{after}, time.Now(), 10*time.Second)
		if len(seen.Caches) != 1 {
			t.Fatalf("%s: %+v", c.name, seen)
		}
		got := seen.Caches[0]
		if got.HitRatio != c.ratio || got.Requests != c.perSecond || !strings.Contains(got.Means, c.says) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// A cache that is filled after a restart is not one that has room to spare.
func TestACacheThatIsBeingFilledIsNoReasonForLess(t *testing.T) {
	const mib = 1 << 20
	for grown, says := range map[int64]string{2 * mib: "at this pace it is full in 3m0s", 1: "it is not full, so more memory would change nothing"} {
		before := engine.Cache{Node: "a", Name: "keys", Capacity: 50 * mib, Size: 14*mib - grown, Requests: 100}
		now := before
		now.Size, now.Requests = before.Size+grown, 1100
		if got := between([]engine.Cache{before}, []engine.Cache{now}, time.Now(), 10*time.Second).Caches[0].Means; !strings.Contains(got, says) {
			t.Errorf("after it grew by %d bytes: %q, want %q", grown, got, says)
		}
	}
}

func TestANodeThatWasRestartedMeanwhileIsLeftOut(t *testing.T) {
	seen := between([]engine.Cache{{Node: "a", Name: "keys", Requests: 10}}, []engine.Cache{{Node: "a", Name: "keys", Requests: 3}}, time.Now(), time.Second)
	if len(seen.Caches) != 0 || !strings.Contains(strings.Join(seen.Notes, " "), "node a was restarted") {
		t.Errorf("%+v", seen)
	}
}

func TestCachesOfARealCassandra(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Cassandra")
	}
	t.Parallel()
	s := labtest.Up(t, "cassandra")
	session, err := s.Database.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	exec := func(text string) {
		t.Helper()
		if err := session.Exec(t.Context(), text, nil); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec("CREATE TABLE test.cached (id int PRIMARY KEY, v text)")
	exec("INSERT INTO test.cached (id, v) VALUES (1, 'x')")
	counting, ok := engine.As[engine.CacheCounting](s.Database)
	if !ok {
		t.Fatal("Cassandra counts no caches")
	}
	all, err := counting.Caches(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]engine.Cache{}
	for _, c := range all {
		found[c.Name] = c
	}
	for name, setting := range map[string]string{"keys": "key_cache_size", "rows": "row_cache_size", "counters": "counter_cache_size"} {
		c, there := found[name]
		if !there || c.Setting != setting || c.Node == "" {
			t.Errorf("cache %s: %+v", name, c)
		}
	}
	if found["keys"].Capacity == 0 || found["rows"].Capacity != 0 {
		t.Errorf("by default keys are cached and rows are not: %+v", found)
	}
	seen, err := Observe(t.Context(), counting, time.Second)
	if err != nil || len(seen.Caches) != len(all) {
		t.Fatalf("%d of %d caches seen: %v", len(seen.Caches), len(all), err)
	}
	_, chunks := found["chunks"]
	if off := strings.Contains(strings.Join(seen.Notes, " "), "The chunk cache is not listed"); off == chunks {
		t.Errorf("the chunk cache is listed: %v, and said to be off: %v", chunks, off)
	}
}
