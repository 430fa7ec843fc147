package execute

import (
	"testing"
	"time"
)

// A step that may take two days ends on a day, not only at a time of the day.
func TestATimeOfAnotherDayIsToldWithItsDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 23, 30, 0, 0, time.Local)
	for after, want := range map[time.Duration]string{
		0: "23:30:00", -23 * time.Hour: "00:30:00", time.Hour: "2026-11-24 00:30:00", 48 * time.Hour: "2026-11-25 23:30:00", -24 * time.Hour: "2026-11-22 23:30:00",
		8760 * time.Hour: "2027-11-23 23:30:00",
	} {
		if got := clock(now.Add(after), now); got != want {
			t.Errorf("%s after %s: %q, expected %q", after, now, got, want)
		}
	}
}
