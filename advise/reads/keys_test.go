package reads

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"plimsoll/advise"
	"plimsoll/workload/random"
)

// The interval of the skew holds the truth as often as it says.
func TestTheSkewOfKeys(t *testing.T) {
	for _, truth := range []float64{0, 0.5, 0.8, 1, 1.2} {
		held, off, zipf := 0, 0.0, random.NewZipf(truth)
		const times = 100
		for seed := range uint64(times) {
			r := rand.New(rand.NewPCG(seed, 7))
			st := tally{values: map[string]int{}}
			st.Shape = &advise.TableSize{Rows: 20_000}
			for range 1500 {
				st.values[strconv.FormatInt(zipf.Draw(r, 20_000), 10)]++
			}
			st.keys()
			k := st.Keys.Skew
			if k.Low <= truth+1e-9 && truth <= k.High {
				held++
			}
			off += math.Abs(k.Mean-truth) / times
		}
		t.Logf("a skew of %.1f: off by %.3f on average, %d of %d intervals hold it", truth, off, held, times)
		if held < 75 || off > 0.2 {
			t.Errorf("a skew of %.1f: %d of %d intervals hold it, off by %.2f on average", truth, held, times, off)
		}
	}
	few := tally{values: map[string]int{"a": fewest - 1}}
	few.Shape = &advise.TableSize{Rows: 100}
	if few.keys(); few.Keys != nil {
		t.Error("something is said from few executions")
	}
}
