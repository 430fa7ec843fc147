package store

import (
	"log/slog"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"plimsoll/watch"
)

// What is read chunk by chunk is what the database reads sample by sample: over blocks and what is only in memory, with gaps, samples that came late,
// ends of series and series of one sample, in every kind of expression, and of what is not an expression.
func TestChunkByChunkTheSamplesAreTheSame(t *testing.T) {
	const seed = 17
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only read
	end := time.Now().Truncate(time.Second)
	begin := end.Add(-9 * time.Hour)
	put := func(at time.Time, name, n string, value float64) {
		t.Helper()
		if err := s.Append(t.Context(), []watch.Sample{{Name: name, Labels: []watch.Label{{Name: "n", Value: n}}, At: at, Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	for at := begin; at.Before(end); at = at.Add(7 * time.Second) {
		put(at, "x", "steady", math.Sin(float64(at.Unix())/600))
		if random.IntN(3) > 0 {
			put(at.Add(time.Duration(random.IntN(3000))*time.Millisecond), "x", "uneven", random.Float64())
		}
		if since := at.Sub(begin); since < 3*time.Hour || since > 5*time.Hour {
			put(at, "x", "gap", float64(since))
		}
		if since := at.Sub(begin); since < 4*time.Hour {
			put(at, "x", "ends", float64(since))
		} else if since < 4*time.Hour+7*time.Second {
			put(at, "x", "ends", Ended())
		}
	}
	put(begin.Add(2*time.Hour), "x", "once", 1)
	for range 500 { // between others, in blocks and in memory
		put(begin.Add(time.Duration(random.Int64N(int64(end.Sub(begin))))), "x", "steady", 2)
	}
	if err := s.db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.db.Blocks()) < 2 {
		t.Fatalf("%d blocks, expected several", len(s.db.Blocks()))
	}
	plain := newReader(s.db, slog.New(slog.DiscardHandler))
	defer plain.engine.Close() //nolint:errcheck // it was only read
	for _, expr := range []string{"x", "avg_over_time(x[3m])", "sum(rate(x[5m]))", "x offset 1h", "last_over_time(x[1s])", "max_over_time(x[1h:1m])", "count(x)", "x @ end()", "x - x offset 30m", "changes(x[2h])", "absent(x{n='ends'})"} {
		for range 12 {
			from := begin.Add(time.Duration(random.Int64N(int64(8 * time.Hour)))).Truncate(time.Millisecond)
			to := from.Add(time.Duration(random.Int64N(int64(5 * time.Hour))))
			step := time.Duration(1+random.IntN(600)) * time.Second
			want, err := plain.Query(t.Context(), expr, from, to, step)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.reader.Query(t.Context(), expr, from, to, step); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s from %s to %s every %s: %d lines, want %d; %v", expr, from, to, step, len(got), len(want), err)
			}
		}
	}
	from, to := begin.Add(90*time.Minute+3*time.Second), begin.Add(6*time.Hour+time.Second)
	want, err := plain.Select(t.Context(), `x{n!="ends"}`, from, to)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Select(t.Context(), `x{n!="ends"}`, from, to); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the samples themselves: %d lines, want %d; %v", len(got), len(want), err)
	}
}
