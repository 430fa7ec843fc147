package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
)

// What lists would tell nothing of is refused, with what would let it be told.
func TestACacheThatTellsNothingIsRefused(t *testing.T) {
	usual := engine.PageCache{PageSize: 16384, Size: 1 << 30, Pages: 65536, Data: 64000, Read: 500_000, Uptime: time.Hour}
	if err := tells(usual, usual); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		with func(*engine.PageCache)
		says string
	}{
		"it reads what it held before":  {func(c *engine.PageCache) { c.Loading = true }, "just started"},
		"nothing is held":               {func(c *engine.PageCache) { c.Data = 0 }, "is empty"},
		"no page ever had to leave":     {func(c *engine.PageCache) { c.Read, c.Data, c.Free = 30_000, 30_000, 35_536 }, "no page has been evicted"},
		"it was started a minute ago":   {func(c *engine.PageCache) { c.Read, c.Uptime = 100_000, time.Minute }, "1m0s ago"},
		"made pages fill it, none left": {func(c *engine.PageCache) { c.Read, c.Created, c.Data = 10, 40_000, 40_000 }, "no page has been evicted"},
	} {
		t.Run(name, func(t *testing.T) {
			cache := usual
			c.with(&cache)
			var why *Unable
			if err := tells(cache, cache); !errors.As(err, &why) || !strings.Contains(why.Reason, c.says) || why.Advice == "" {
				t.Errorf("got %v, want it to say %q, and what to do", err, c.says)
			}
		})
	}
}

// readings are a server of which only the counters of its cache are asked: one after another, the last again and again.
type readings struct {
	engine.PageCaching
	all []engine.PageCache
}

func (r *readings) PageCache(context.Context) (engine.PageCache, error) {
	c := r.all[0]
	r.all = r.all[min(1, len(r.all)-1):]
	return c, nil
}

// A server that was just started is told from one that has all that it needs, before anything is said of its pool: by how long it is up, and by whether
// it still reads.
func TestAServerThatWasJustStartedIsToldBeforeAnythingElse(t *testing.T) {
	const page = 16 << 10
	cold := engine.PageCache{PageSize: page, Size: 4096 * page, Pages: 4096, Data: 2240, Free: 1856, Read: 2250, Requests: 90_000}
	for name, c := range map[string]struct {
		up    time.Duration
		later int64 // pages read within the next two seconds
		says  string
	}{
		"7 s after a restart":               {7 * time.Second, 600, "the server started 9s ago, and its reads still fill its buffer pool, which holds 44 of 64 MiB"},
		"7 s after, without any load":       {7 * time.Second, 0, "the server started 9s ago and has not yet read twice the size of its buffer pool"},
		"after two hours it still reads":    {2 * time.Hour, 1, "the server started 2h0m2s ago"},
		"after two hours it reads no more":  {2 * time.Hour, 0, "no page has been evicted"},
		"after a month each hour was there": {30 * 24 * time.Hour, 1, "no page has been evicted"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, last := cold, cold
				first.Uptime, last.Uptime, last.Read = c.up, c.up+2*time.Second, cold.Read+c.later
				last.Data += c.later
				server := &readings{all: []engine.PageCache{last}}
				err := able(t.Context(), server, first, 4*time.Second)
				var why *Unable
				if !errors.As(err, &why) || !strings.Contains(why.Reason, c.says) {
					t.Fatalf("got %v, want it to say %q", err, c.says)
				}
				if strings.HasPrefix(c.says, "the server started") && strings.Contains(why.Advice, "smaller") {
					t.Errorf("of a cold pool: %s", why.Advice)
				}
			})
		})
	}
	full := cold
	full.Uptime, full.Data, full.Read, full.Free = time.Minute, 4000, 20_000, 96
	if w := Warming(full, full); w != nil {
		t.Errorf("a pool that was read over five times is warm: %+v", w)
	}
	full.Uptime, full.Read = time.Hour, 1_000_000
	restarted := cold
	restarted.Uptime = 3 * time.Second
	if w := Warming(full, restarted); w == nil || w.Uptime != 3*time.Second {
		t.Errorf("a server that was restarted in between: %+v", w)
	}
	young, same := cold, cold
	young.Uptime, same.Uptime, same.Read = time.Minute, time.Minute+2*time.Second, cold.Read+600
	if w := Warming(young, same); w == nil || w.Told() != "the server started 1m2s ago, and it has not yet read twice the size of its buffer pool, which holds 35 of 64 MiB" {
		t.Errorf("a pool that does not grow: %+v", w)
	}
	loading := full
	loading.Loading = true
	if Warming(loading, full) == nil {
		t.Error("a server that loads its dump is warming up")
	}
}

func TestAServerThatBecomesAnotherEndsTheObservation(t *testing.T) {
	before := engine.PageCache{Size: 1 << 30, Uptime: time.Hour}
	for name, c := range map[string]struct {
		now   engine.PageCache
		lists int
		says  string
	}{
		"it goes on":           {engine.PageCache{Size: 1 << 30, Uptime: time.Hour + time.Second}, 8, ""},
		"it was restarted":     {engine.PageCache{Size: 1 << 30, Uptime: time.Second}, 8, "restarted"},
		"its pool was resized": {engine.PageCache{Size: 2 << 30, Uptime: 2 * time.Hour}, 8, "resized"},
		"in other parts":       {engine.PageCache{Size: 1 << 30, Uptime: 2 * time.Hour}, 4, "resized"},
	} {
		err := disturbed(before, c.now, 8, c.lists)
		var why *Unable
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &why) || !strings.Contains(why.Reason, c.says) || why.Advice == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// load is intervals of a steady load, with the noise of one.
func load(rng *rand.Rand, n int, requests, share float64) (all []Interval) {
	for range n {
		r := requests * math.Exp(0.1*rng.NormFloat64())
		read := r * share * math.Exp(0.1*rng.NormFloat64())
		i := Interval{
			Seconds: 1, Pages: 1000, Loads: read, Back: make([]float64, bins), Fresh: make([]float64, bins), Promoted: make([]float64, perCache),
			Spaces: map[uint32]float64{}, Counts: Counts{Requests: int64(r), Read: int64(read)},
		}
		i.Back[rng.IntN(2*perCache)] = read
		all = append(all, i)
	}
	return all
}

// A load that becomes another in between is told, with the moment, and the prediction is of the one since.
func TestALoadThatChangesInBetweenIsTold(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	cache := engine.PageCache{Pages: 1000, Size: 1000 * 16384, PageSize: 16384, Data: 1000}
	began := time.Date(2026, 11, 23, 21, 0, 0, 0, time.FixedZone("KST", 9*3600))
	for name, c := range map[string]struct {
		after []Interval
		says  string
	}{
		"more is asked for":           {load(rng, 60, 25_000, 0.05), "requests a second"},
		"more of it is not in memory": {load(rng, 60, 10_000, 0.15), "reads for 1,000 requests"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Reported(&Observation{Cache: cache, Intervals: append(load(rng, 40, 10_000, 0.05), c.after...), Began: began, Took: 100 * time.Second, Every: 1}, nil, 1)
			if !strings.HasPrefix(r.Explained[0], "The load changed at 12:00:40 UTC, ") || !strings.Contains(r.Explained[0], c.says) {
				t.Errorf("it is explained by %q", r.Explained)
			}
			since := 0.0
			for _, i := range c.after {
				since += float64(i.Counts.Read) / float64(len(c.after))
			}
			if math.Abs(r.Reads/since-1) > 0.1 || r.Curve.Points[0].Doubt == "" {
				t.Errorf("%.0f reads a second are told, %.0f came since; %+v", r.Reads, since, r.Curve.Points[0])
			}
		})
	}
	steady := load(rng, 100, 10_000, 0.05)
	for n := range steady { // a batch that comes again and again is the load
		if n%20 < 4 {
			steady[n] = load(rng, 1, 30_000, 0.3)[0]
		}
	}
	if r := Reported(&Observation{Cache: cache, Intervals: steady, Began: began, Took: 100 * time.Second, Every: 1}, nil, 1); strings.Contains(r.Explained[0], "changed") {
		t.Errorf("of a load that goes on as it began: %q", r.Explained)
	}
}

// From a few lists nothing is told of a load that changed, and that is said.
func TestTooFewListsToTellAChangeAreSaid(t *testing.T) {
	const seed = 6
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	cache := engine.PageCache{Pages: 1000, Size: 1000 * 16384, PageSize: 16384, Data: 1000}
	for n, said := range map[int]bool{15: true, 16: false} {
		r := Reported(&Observation{Cache: cache, Intervals: load(rng, n, 10_000, 0.05), Took: time.Minute, Every: 1}, nil, 1)
		if got := strings.Contains(strings.Join(r.Notes, " "), fmt.Sprintf("cannot be told from %d lists of pages: it takes 17", n+1)); got != said {
			t.Errorf("%d intervals: %q", n, r.Notes)
		}
	}
}

// A cache into which all data fits is warm once that has been read, however much larger it is.
func TestWarmthEndsWhereTheDataEnds(t *testing.T) {
	r := &advise.Memory{PageSize: 16 << 10, Data: 1000 * 16 << 10, Line: []advise.Point{{Times: 1, Reads: 100}, {Times: 100, Reads: 0}}}
	enough, more := warmth(r, advise.Point{Times: 10}, 100), warmth(r, advise.Point{Times: 1000}, 100)
	if enough.Resized <= 0 || more != enough {
		t.Errorf("room for ten times the data is warm after %+v, room for just the data after %+v", more, enough)
	}
}

// What is advised to observe longer, or to allow more, can be typed.
func TestWhatEndsALookNamesWhatWouldLetIt(t *testing.T) {
	w := stallWatch{stalls: []time.Duration{80 * time.Millisecond}}
	var why *Unable
	if err := w.tooMuch(50 * time.Millisecond); !errors.As(err, &why) || why.Hint() != "observe a replica, with --node NODE, or allow more, with --max-stall 160ms" {
		t.Errorf("%v: %v", err, why)
	}
}

// A time over its limit is never written as the limit.
func TestAStallJustOverItsLimitReadsSo(t *testing.T) {
	w := stallWatch{stalls: []time.Duration{50*time.Millisecond + 10*time.Microsecond}}
	if err := w.tooMuch(50 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "for 50.1ms, longer than 50ms") {
		t.Error(err)
	}
}

func TestAPoolThatIsKeptFreeIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		cache engine.PageCache
		told  bool
	}{
		"most of it, by MariaDB's default": {engine.PageCache{PageSize: 16 << 10, Pages: 1014, Free: 915, KeepsFree: 1536, Parts: 1}, true},
		"little of a large one":            {engine.PageCache{PageSize: 16 << 10, Pages: 1_000_000, Free: 1200, KeepsFree: 1536, Parts: 1}, false},
		"one that is not full":             {engine.PageCache{PageSize: 16 << 10, Pages: 100_000, Free: 90_000, KeepsFree: 1536, Parts: 1}, false},
	} {
		if said := keptFree(c.cache); (len(said) > 0) != c.told || c.told && !strings.Contains(said[0], "innodb_lru_scan_depth pages (1536)") {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// listing takes lists in one way, and takes none here.
type listing struct {
	lister
	by string
}

func (l listing) name() string { return l.by }

// Lists of a large pool by the server's dump take half a percent of the time at most, so that no server loses more throughput by them, as long as there are
// enough of them; lists of a small pool are taken as often as its pages move.
func TestListsOfALargePoolTakeHalfAPercentOfTheTime(t *testing.T) {
	for _, c := range []struct {
		by    string
		pages int64
		took  time.Duration
		span  time.Duration
		want  time.Duration // until the next one, at least
		most  time.Duration
	}{
		{byFile, 1_500_000, 100 * time.Millisecond, 5 * time.Minute, 19900 * time.Millisecond, 20 * time.Second},
		{byFile, 1_500_000, time.Second, 5 * time.Minute, 37500 * time.Millisecond, 38 * time.Second}, // eight lists in five minutes
		{byFile, 1_500_000, time.Second, time.Hour, 199 * time.Second, 200 * time.Second},
		{byFile, 25_000, 15 * time.Millisecond, 5 * time.Minute, 285 * time.Millisecond, time.Second},
		{"SQL", 1_500_000, time.Second, 5 * time.Minute, 19 * time.Second, 20 * time.Second},
	} {
		busy := Interval{Seconds: 1, Pages: float64(c.pages), Counts: Counts{Read: c.pages}, Promoted: make([]float64, perCache)} // all of it moves each second
		l := &look{
			Options: Options{For: c.span}.withDefaults(), source: listing{by: c.by}, watch: &stallWatch{took: []time.Duration{c.took}},
			out: &Observation{Intervals: []Interval{busy}}, cache: engine.PageCache{Data: c.pages},
		}
		if got := l.wait(); got < c.want || got > c.most {
			t.Errorf("%d pages by %s in %v: the next list after %v, want %v", c.pages, c.by, c.took, got, c.want)
		}
	}
}
