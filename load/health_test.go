package load_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/series"
)

// While a load goes on its generator's health is told second by second, by what would be judged if it ended then. Of several loaders the worst counts.
func TestTheHealthOfALoadGenerator(t *testing.T) {
	of := func(d time.Duration, n int64) series.Snapshot {
		h := series.NewHistogram()
		h.RecordN(d, n)
		return h.Snapshot()
	}
	fast := of(time.Millisecond, 100)
	h := load.NewHealth()
	if h.Seconds() != 0 || h.Reasons(fast) != nil || h.CPUShare() != 0 || h.Late() != 0 || h.CapShare() != 0 {
		t.Errorf("before its first second: %+v", h.Reasons(fast))
	}
	seconds := []load.GuardSecond{
		{StartLag: of(100*time.Microsecond, 100), CPUShare: 0.2},
		{StartLag: of(9*time.Millisecond, 50), CPUShare: 0.4, CapShare: 0.5, Stall: 300 * time.Millisecond},
	}
	for n, s := range seconds {
		h.Add(s)
		var want []string
		for _, r := range load.Judge(seconds[:n+1], fast) {
			want = append(want, r.String())
		}
		var got []string
		for _, r := range h.Reasons(fast) {
			got = append(got, r.String())
		}
		if !slices.Equal(got, want) || n == 0 && len(got) != 0 || n == 1 && len(got) != 3 {
			t.Errorf("after %d seconds: %q, judged %q", n+1, got, want)
		}
	}
	if late := h.Late().Round(time.Millisecond); late != 9*time.Millisecond || h.CapShare() != 0.25 || h.CPUShare() < 0.299 || h.CPUShare() > 0.301 || h.Stall() != 300*time.Millisecond {
		t.Errorf("late %v, capped %v, CPU %v, stalled %v", late, h.CapShare(), h.CPUShare(), h.Stall())
	}
	several := load.NewHealth()
	several.Add(load.GuardSecond{StartLag: of(time.Millisecond, 10), CPUShare: 0.5, Loaders: []load.LoaderGuard{
		{Loader: "l1", GuardSecond: load.GuardSecond{StartLag: of(100*time.Microsecond, 1000)}},
		{Loader: "l2", GuardSecond: load.GuardSecond{StartLag: of(20*time.Millisecond, 10), CapShare: 0.002}},
	}})
	reasons := several.Reasons(fast)
	if late := several.Late().Round(time.Millisecond); late != 20*time.Millisecond || several.CapShare() != 0.002 || len(reasons) != 2 {
		t.Fatalf("of two loaders: late %v, capped %v, %q", late, several.CapShare(), reasons)
	}
	for _, r := range reasons {
		if !strings.HasPrefix(r.String(), "l2: ") {
			t.Errorf("of which loader is this: %s", r)
		}
	}
}
