package analyze

import (
	"testing"
	"time"

	"plimsoll/series"
)

func TestStatistics(t *testing.T) {
	seconds := []Second{second(time.Millisecond, 3*time.Millisecond), second(5 * time.Millisecond)}
	seconds[1].Length = time.Second / 2
	seconds[1].Errors, seconds[1].Scheduled = 2, 3
	seconds[0].Late, seconds[0].Done = 1, 1
	for name, c := range map[string]struct {
		statistic Statistic
		want      float64
	}{
		"throughput":  {Throughput(), 2},
		"error share": {ErrorShare(), 0.4},
		"mean":        {Mean(Response), 3},
		"median":      {Percentile(0.5, Service), 3},
		"max":         {Max(Response), 5},
		"errors":      {Errors(), 2},
	} {
		if got := Value(c.statistic, seconds); !near(got, c.want, 0.002*c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// No error among n operations leaves 1 − 0.005^(1/n) open at 99 %.
func TestNoErrorsAreNotAProof(t *testing.T) {
	var seconds []Second
	for range 10 {
		seconds = append(seconds, Second{Length: time.Second, Tally: series.Tally{Scheduled: 100, Done: 100}})
	}
	e := EstimateOf(Quantity{Rounds: [][]Second{seconds}, Statistic: ErrorShare()}, Options{})
	if e.Value != 0 || e.Low != 0 || !near(e.High, 0.00528, 0.00001) {
		t.Errorf("%+v, want 0 to 0.00528", e)
	}
}

func TestFactsHaveNoInterval(t *testing.T) {
	rounds := [][]Second{{second(time.Millisecond)}, {second(9 * time.Millisecond)}}
	for _, s := range []Statistic{Max(Response), Errors()} {
		e := EstimateOf(Quantity{Rounds: rounds, Statistic: s}, Options{})
		if e.Low != e.Value || e.High != e.Value || e.Confidence != 1 {
			t.Errorf("%+v", e)
		}
	}
}
