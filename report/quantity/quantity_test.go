package quantity

import (
	"math"
	"strings"
	"testing"
	"time"
)

// plain makes the narrow spaces visible to a reader of this file.
func plain(s string) string { return strings.ReplaceAll(s, space, " ") }

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Plain, 0, "0"},
		{Plain, 3.4159, "3.42"},
		{Plain, 42, "42"},
		{Plain, 9.996, "10.0"},
		{Plain, 99.96, "100"},
		{Plain, 0.01714, "0.0171"},
		{Plain, 0.1, "0.100"},
		{Plain, 0.09996, "0.100"},
		{Plain, 0.009996, "0.0100"},
		{Plain, 0.0999, "0.0999"},
		{Plain, 0.00001714, "1.7e-05"},
		{Plain, -1234567, "-1,234,567"},
		{Plain, math.NaN(), "–"},
		{Plain, math.Inf(1), "+∞"},
		{PerSecond, 21226.7, "21,227/s"},
		{Milliseconds, 0, "0 ms"},
		{Milliseconds, 0.412, "412 µs"},
		{Milliseconds, 0.9996, "1.00 ms"},
		{Milliseconds, 3.4159, "3.42 ms"},
		{Milliseconds, 999.6, "1.00 s"},
		{Milliseconds, 65000, "65.0 s"},
		{MillisecondsPerSecond, 412, "412 ms/s"},
		{Ratio, 0.94149, "0.941"},
		{Ratio, 12.3, "12.3"},
		{Ratio, 0, "0"},
		{Share, 0.0123, "1.2 %"},
		{Share, 0.5, "50 %"},
		{Share, 0.99, "99 %"},
		{Share, 0.998, "99.8 %"},
		{Share, 0.99967, "99.967 %"},
		{Share, 0.9999999, "99.99999 %"},
		{Share, 0.99999999999999986, "100 %"}, // the mean of many ones
		{Share, 1, "100 %"},
		{Share, 0.0004, "0.0400 %"},
		{Share, 0, "0 %"},
		{Share, 7e-12, "<0.001 %"},
		{Count, 5011.6, "5,012"},
		{Elapsed, 65.9, "1:05"},
		{Elapsed, 3665, "1:01:05"},
		{Elapsed, -5, "−0:05"},
	} {
		if got := plain(c.unit.Format(c.v)); got != c.want {
			t.Errorf("%s: Format(%v) = %q, want %q", c.unit, c.v, got, c.want)
		}
	}
}

func TestTick(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Milliseconds, 0.5, "500 µs"},
		{Milliseconds, 2, "2 ms"},
		{Milliseconds, 2.5, "2.5 ms"},
		{Milliseconds, 10, "10 ms"},
		{PerSecond, 20000, "20,000/s"},
		{Plain, 0.2, "0.2"},
		{Plain, 1, "1"},
		{Plain, 100, "100"},
		{Ratio, 0.9, "0.9"},
	} {
		if got := plain(c.unit.Tick(c.v)); got != c.want {
			t.Errorf("%s: Tick(%v) = %q, want %q", c.unit, c.v, got, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	for ratio, want := range map[float64]string{
		0.941: "−5.9 %", 1.02: "+2.0 %", 3.4: "×3.40", 1.0001: "±0 %", 0.9999: "±0 %", 0: "−100.0 %", -44.861: "under −100 %", 0.001: "×0.00100", 2.9e-9: "under ×0.00100", 3.6e6: "over ×1,000",
	} {
		if got := plain(Change(ratio)); got != want {
			t.Errorf("Change(%v) = %q, want %q", ratio, got, want)
		}
	}
}

func TestSmallest(t *testing.T) {
	for share, want := range map[float64]string{0.06: "6.0 %", 0.5: "50 %", 1: "×2.00", 16.58: "×17.6", 1e6: "over ×1,000"} {
		if got := plain(Smallest(share)); got != want {
			t.Errorf("Smallest(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestPlusMinus(t *testing.T) {
	absolute, relative := Milliseconds.PlusMinus(10, 9.5, 10.7)
	if plain(absolute) != "± 600 µs" || plain(relative) != "± 6.0 %" {
		t.Errorf("got %q and %q", absolute, relative)
	}
	if _, relative = Count.PlusMinus(10, -300, 900); plain(relative) != "± >100 %" {
		t.Errorf("a wide interval: %q", relative)
	}
	if _, relative = Count.PlusMinus(0, 0, 0); relative != "" {
		t.Errorf("a share of zero: %q", relative)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		412 * time.Microsecond: "412 µs", 3400 * time.Millisecond: "3.40 s", 15004 * time.Millisecond: "15 s", 125 * time.Second: "2 min 5 s",
		2 * time.Minute: "2 min", 70 * time.Minute: "1 h 10 min", 59*time.Minute + 59700*time.Millisecond: "1 h",
	} {
		if got := plain(Duration(d)); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}
