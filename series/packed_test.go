package series

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

func TestSnapshotAsTextIsTheSame(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		h := NewHistogram()
		for range random.IntN(500) {
			h.RecordN(time.Duration(math.Exp(random.Float64()*math.Log(4*float64(highest)))), 1+random.Int64N(5))
		}
		want := h.Snapshot()
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got Snapshot
		if err := got.UnmarshalText(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: a snapshot of %d is one of %d after its text", err, want.Count(), got.Count())
		}
	}
}

func FuzzSnapshotText(f *testing.F) {
	h := NewHistogram()
	h.Record(5)
	h.Record(time.Second)
	text, _ := h.Snapshot().MarshalText()
	f.Add(string(text))
	f.Add("AAE=")
	f.Add("//////////8P/w==")
	f.Fuzz(func(t *testing.T, text string) {
		var s Snapshot
		if s.UnmarshalText([]byte(text)) != nil {
			return
		}
		if back := Merge(s).Snapshot(); back.Count() != s.Count() || back.Max() != s.Max() || back.Min() != s.Min() {
			t.Fatalf("%q is read as %d durations, of which %d count", text, s.Count(), back.Count())
		}
	})
}
