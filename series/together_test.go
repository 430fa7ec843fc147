package series

import (
	"testing"
	"time"
)

func TestTogetherAddsEverything(t *testing.T) {
	interval := func(n int64, class string, d time.Duration) Interval {
		h := NewHistogram()
		h.RecordN(d, n)
		return Interval{
			Tally: Tally{Scheduled: n + 1, Done: n, Errors: 1}, ErrorClasses: map[string]int64{class: 1},
			Response: h.Snapshot(), Service: h.Snapshot(),
		}
	}
	sum := Together(time.Unix(7, 0), time.Second, []Interval{
		interval(3, "deadlock", time.Millisecond), interval(2, "deadlock", 5*time.Millisecond), {},
	})
	if sum.Scheduled != 7 || sum.Done != 5 || sum.ErrorClasses["deadlock"] != 2 || !sum.Balanced() {
		t.Errorf("got %+v", sum)
	}
	if sum.Response.Count() != 5 || sum.Response.Max() < 5*time.Millisecond || sum.Wait.Count() != 0 {
		t.Errorf("response %d up to %v", sum.Response.Count(), sum.Response.Max())
	}
}
