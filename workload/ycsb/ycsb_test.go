package ycsb

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll/engine"
	"plimsoll/workload"
	"plimsoll/workload/internal/golden"
	"plimsoll/workload/internal/making"
	"plimsoll/workload/internal/recorder"
	"plimsoll/workload/random"
)

func of(t testing.TB, e engine.Engine, name, params string) *ycsb {
	t.Helper()
	return making.Of[*ycsb](t, Makers(), e, name, params)
}

// there answers every read with a row.
func there(text string, _ []engine.Value, r *engine.Result) error {
	if r != nil && strings.HasPrefix(text, "read") {
		r.Rows = 1
	}
	return nil
}

func operate(t testing.TB, w workload.Workload, db *recorder.Recorder, seed uint64, worker, times int) string {
	t.Helper()
	c := making.Connect(t, w, db, seed, worker)
	for range times {
		if err := c.Do(t.Context(), c.Next()); err != nil {
			t.Fatal(err)
		}
	}
	return db.Lines()
}

const mixed = "{fields: 2, field_length: 5, read: 2, update: 2, insert: 1, scan: 1, read_modify_write: 2}"

func TestOperations(t *testing.T) {
	for _, m := range Makers() {
		t.Run(m.Name, func(t *testing.T) {
			db := &recorder.Recorder{Answer: there}
			params := "{fields: 2, field_length: 5}"
			if m.Name == "kv" {
				params = mixed
			}
			golden.Check(t, m.Name+".txt", operate(t, of(t, db, m.Name, params), db, 7, 0, 20))
		})
	}
}

func TestMixes(t *testing.T) {
	for name, want := range map[string]map[string]float64{
		"ycsb-a": {"read": .5, "update": .5}, "ycsb-b": {"read": .95, "update": .05}, "ycsb-c": {"read": 1},
		"ycsb-d": {"read": .95, "insert": .05}, "ycsb-e": {"scan": .95, "insert": .05}, "ycsb-f": {"read": .5, "read_modify_write": .5},
		"kv": {"read": .7, "update": .1, "insert": .2},
	} {
		params := ""
		if name == "kv" {
			params = "{read: 70, insert: 20, update: 10}"
		}
		db := &recorder.Recorder{}
		w := of(t, db, name, params)
		c := making.Connect(t, w, db, 1, 0)
		const n = 50_000
		seen := map[string]float64{}
		for range n {
			seen[w.Operations()[c.Next()]]++
		}
		if len(seen) != len(want) {
			t.Errorf("%s does %v", name, seen)
		}
		for operation, share := range want {
			if sd := math.Sqrt(share * (1 - share) / n); math.Abs(seen[operation]/n-share) > 4*sd {
				t.Errorf("%s: %.4f are %s, expected %.2f", name, seen[operation]/n, operation, share)
			}
		}
	}
}

func TestKVNeedsAMix(t *testing.T) {
	_, err := making.Try(t, Makers(), &recorder.Recorder{}, "kv", "records: 10")
	if err == nil || !strings.Contains(err.Error(), "t.yaml:1:1: kv without operations") || !strings.Contains(err.Error(), "read: 70") {
		t.Errorf("got %v", err)
	}
	_, err = making.Try(t, Makers(), &recorder.Recorder{}, "kv", "reed: 10")
	if err == nil || !strings.Contains(err.Error(), `did you mean "read"?`) {
		t.Errorf("got %v", err)
	}
}

type noRecords struct{ engine.Engine }

func (noRecords) Name() string { return "odd" }

func TestItNeedsRecords(t *testing.T) {
	if _, err := making.Try(t, Makers(), noRecords{}, "ycsb-a", ""); err == nil || !strings.Contains(err.Error(), "odd does not") {
		t.Errorf("got %v", err)
	}
}

func TestSameSeedSameOperations(t *testing.T) {
	db := &recorder.Recorder{Answer: there}
	make := func(seed uint64, worker int) string { return operate(t, of(t, db, "kv", mixed), db, seed, worker, 50) }
	a := make(1, 2)
	if b := make(1, 2); a != b {
		t.Error("the same seed and worker asked otherwise")
	}
	if make(1, 3) == a || make(2, 2) == a {
		t.Error("another worker or seed asks the same")
	}
}

// Workers add records while others read: nobody asks for a record before it is acknowledged, and none is added twice.
func TestReadsFollowAcknowledgedInserts(t *testing.T) {
	const records, workers, operations = 100, 8, 3000
	var mu sync.Mutex
	stored := map[string]bool{}
	for n := range int64(records) {
		stored[string(appendKey(nil, random.Hash(n)))] = true
	}
	db := &recorder.Recorder{Mute: true}
	db.Answer = func(text string, args []engine.Value, r *engine.Result) error {
		mu.Lock()
		defer mu.Unlock()
		key := string(args[0].Data)
		switch {
		case strings.HasPrefix(text, "insert"):
			if stored[key] {
				t.Errorf("%s is added twice", key)
			}
			stored[key] = true
		case stored[key]:
			r.Rows = 1
		}
		return nil
	}
	w := of(t, db, "kv", "{records: 100, read: 1, insert: 1, distribution: latest, fields: 1}")
	var all sync.WaitGroup
	for worker := range workers {
		c := making.Connect(t, w, db, 1, worker)
		all.Go(func() {
			for range operations {
				if err := c.Do(t.Context(), c.Next()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if rows := w.keys.Rows(); rows != int64(len(stored)) || rows < records+workers*operations/3 {
		t.Errorf("%d records count, %d are stored", rows, len(stored))
	}
}

// A failed insert does not hold up those after it.
func TestFailedInsertsAreGivenUp(t *testing.T) {
	db := &recorder.Recorder{Answer: func(string, []engine.Value, *engine.Result) error { return &engine.Error{Kind: engine.Full} }}
	w := of(t, db, "kv", "{records: 5, insert: 1}")
	c := making.Connect(t, w, db, 1, 0)
	for range 3 {
		if err := c.Do(t.Context(), 0); engine.ClassOf(err) != engine.Full {
			t.Fatal(err)
		}
	}
	if w.keys.Rows() != 8 {
		t.Errorf("%d records", w.keys.Rows())
	}
}

func TestEveryDistributionChoosesWhatIsThere(t *testing.T) {
	for _, d := range []string{"zipfian", "uniform", "latest", "hotspot", "exponential", "sequential"} {
		db := &recorder.Recorder{}
		w := of(t, db, "kv", "{records: 50, read: 1, insert: 1, distribution: "+d+"}")
		c := making.Connect(t, w, db, 1, 0).(*client)
		seen := map[int64]int{}
		for i := range 20_000 {
			k := c.choose()
			if k < 0 || k >= w.keys.Rows() {
				t.Fatalf("%s chose %d of %d", d, k, w.keys.Rows())
			}
			if i < 10_000 {
				seen[k]++
			} else if i == 10_000 {
				for range 25 {
					w.keys.Settle(w.keys.Take())
				}
			}
		}
		if d != "hotspot" && len(seen) < 25 {
			t.Errorf("%s reached %d of 50", d, len(seen))
		}
		if uniform := d == "uniform" || d == "sequential"; !uniform && slices.Max(values(seen)) < 400 {
			t.Errorf("%s: the most popular came %d times in 10,000", d, slices.Max(values(seen)))
		}
	}
}

func values(m map[int64]int) []int {
	var out []int
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// The popular records stay the same while others are added.
func TestPopularRecordsStayPopular(t *testing.T) {
	db := &recorder.Recorder{}
	w := of(t, db, "kv", "{records: 1000, read: 1, insert: 1}")
	c := making.Connect(t, w, db, 1, 0).(*client)
	popular := func() int64 {
		seen, best := map[int64]int{}, int64(0)
		for range 20_000 {
			k := c.choose()
			if seen[k]++; seen[k] > seen[best] {
				best = k
			}
		}
		return best
	}
	before := popular()
	for range 900 {
		w.keys.Settle(w.keys.Take())
	}
	if after := popular(); after != before && after < 1000 {
		t.Errorf("record %d was the most popular, now %d is", before, after)
	}
}

func TestKeysSortAsTheirNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "user0000000000000000000", 7: "user0000000000000000007", math.MaxInt64: "user9223372036854775807"} {
		if got := string(appendKey(nil, n)); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// Prepare adds every record once, in the order of its keys within each unit, and record 0 at last.
func TestPrepareMakesEveryRecord(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	db := &recorder.Recorder{Mute: true}
	db.Answer = func(text string, args []engine.Value, _ *engine.Result) error {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(text, "SELECT") {
			return &engine.Error{Kind: engine.Missing}
		}
		for i := 0; i+1 < len(args); i += 2 {
			if len(args[i+1].Data) != 3 {
				t.Fatalf("field %q", args[i+1].Data)
			}
			keys = append(keys, string(args[i].Data))
		}
		return nil
	}
	const n = 150_000
	w := of(t, db, "ycsb-c", "{records: 150000, fields: 1, field_length: 3}")
	var done, total int64
	if err := w.Prepare(t.Context(), db, func(d, all int64, _ string) { done, total = d, all }); err != nil {
		t.Fatal(err)
	}
	if done != n || total != n {
		t.Errorf("%d of %d records told", done, total)
	}
	if want := string(appendKey(nil, random.Hash(0))); len(keys) != n || keys[n-1] != want {
		t.Fatalf("%d records, the last %s, expected %s", len(keys), keys[len(keys)-1], want)
	}
	slices.Sort(keys)
	if len(slices.Compact(keys)) != n {
		t.Error("some records were made twice")
	}
	for i := range int64(n) {
		if _, found := slices.BinarySearch(keys, string(appendKey(nil, random.Hash(i)))); !found {
			t.Fatalf("record %d is not there", i)
		}
	}
}

func TestOperationsDoNotAllocate(t *testing.T) {
	db := &recorder.Recorder{Mute: true, Answer: there}
	w := of(t, db, "kv", mixed)
	c := making.Connect(t, w, db, 1, 0)
	for i, name := range w.Operations() {
		if n := testing.AllocsPerRun(500, func() {
			if err := c.Do(t.Context(), i); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkClient(b *testing.B) {
	for _, name := range []string{"ycsb-c", "ycsb-d"} {
		b.Run(name, func(b *testing.B) {
			db := &recorder.Recorder{Mute: true, Answer: there}
			c := making.Connect(b, of(b, db, name, ""), db, 1, 0)
			b.ReportAllocs()
			for b.Loop() {
				_ = c.Do(b.Context(), c.Next())
			}
		})
	}
}
