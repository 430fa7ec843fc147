// Package quantity writes numbers for people: about three significant digits, thousands grouped, and the unit that fits.
package quantity

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unit is what a number counts. The names are those of verdict.json, and Elapsed for a chart's time axis.
type Unit string

// The units.
const (
	Plain          Unit = ""                 // 21,227   3.42   0.0171
	PerSecond      Unit = "per_second"       // 21,227/s
	Milliseconds   Unit = "ms"               // 412 µs   3.42 ms   1.25 s
	Ratio          Unit = "ratio"            // 0.941
	Share          Unit = "share"            // 1.2 %
	Count          Unit = "count"            // 5,012
	Bytes          Unit = "bytes"            // 773 MiB
	BytesPerSecond Unit = "bytes_per_second" // 89.6 MiB/s
	Seconds        Unit = "seconds"          // 600 ms   12.0 s
	Elapsed        Unit = "elapsed"          // in seconds: 1:05
	// 3.42 ms/s
	MillisecondsPerSecond Unit = "ms_per_second"
)

// Narrow no-break space, so that a number and its unit stay together.
const space = "\u202f"

// Binary reports whether round numbers of the unit are powers of 1024.
func (u Unit) Binary() bool { return u == Bytes || u == BytesPerSecond }

// Format writes v, "–" when it is not a number.
func (u Unit) Format(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	if math.IsInf(v, 0) {
		return strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), "Inf", "∞", 1)
	}
	switch u {
	case PerSecond:
		return Number(v) + "/s"
	case Milliseconds:
		return milliseconds(v)
	case MillisecondsPerSecond:
		return milliseconds(v) + "/s"
	case Ratio:
		return ratio(v)
	case Share:
		return percent(v)
	case Count:
		return group(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
	case Bytes:
		return bytes(v)
	case BytesPerSecond:
		return bytes(v) + "/s"
	case Seconds:
		return milliseconds(v * 1000)
	case Elapsed:
		return elapsed(v)
	default:
		if v == math.Trunc(v) {
			return Count.Format(v)
		}
		return Number(v)
	}
}

// Number writes v with at least three significant digits, whole from 100 on, with thousands grouped.
func Number(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case a >= 99.95:
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a >= 0.001:
		return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(rounded(a)))), 64)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

// rounded has three significant digits: 0.09996 is 0.1.
func rounded(v float64) float64 {
	three, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	return three
}

// FarOff is the ratio beyond which it matters to nobody how far.
const FarOff = 1000.0

// Change writes a ratio as a change: 0.941 is −5.9 %, 1.02 is +2.0 %, and 3.4 is ×3.4.
func Change(ratio float64) string {
	switch {
	case math.IsNaN(ratio) || math.IsInf(ratio, 0):
		return "–"
	case ratio < 0: // which only a signal can be: it was above zero, and is below
		return "under −100" + space + "%"
	case ratio > FarOff:
		return "over ×" + Number(FarOff)
	case ratio > 0 && ratio < 1/FarOff:
		return "under ×" + Number(1/FarOff)
	case ratio >= 2 || (ratio > 0 && ratio < 0.01):
		return "×" + Number(ratio)
	}
	p := strconv.FormatFloat(math.Abs(ratio-1)*100, 'f', 1, 64)
	if p == "0.0" {
		return "±0" + space + "%"
	}
	sign := "+"
	if ratio < 1 {
		sign = "−"
	}
	return sign + p + space + "%"
}

// Smallest writes the share by which something must change to be seen: 6.0 %, and from its double on as a factor, ×17.6.
func Smallest(share float64) string {
	if share >= FarOff-1 {
		return "over ×" + Number(FarOff)
	}
	if share >= 1 {
		return "×" + Number(1+share)
	}
	return percent(share)
}

// PlusMinus writes half the width of an interval, in the same unit as the value, and as a share of it; past the value
// itself it only says so.
func (u Unit) PlusMinus(value, low, high float64) (absolute, relative string) {
	half := (high - low) / 2
	absolute = "±" + space + u.Format(half)
	switch share := math.Abs(half / value); {
	case value == 0:
	case share > 1:
		relative = "±" + space + ">100" + space + "%"
	default:
		relative = "±" + space + percent(share)
	}
	return absolute, relative
}

// Duration writes d as a person would say it: 412 µs, 3.4 s, 2 min 5 s, 1 h 10 min.
func Duration(d time.Duration) string {
	switch whole := d.Round(time.Second); {
	case whole < time.Minute && (d >= 10*time.Second || d == whole && d > 0):
		return strconv.Itoa(int(whole/time.Second)) + space + "s"
	case whole < time.Minute:
		return milliseconds(float64(d) / float64(time.Millisecond))
	case whole < time.Hour:
		d = whole
		return two(int(d/time.Minute), "min", int(d%time.Minute/time.Second), "s")
	default:
		d = d.Round(time.Minute)
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "min")
	}
}

func two(major int, unit string, minor int, unit2 string) string {
	s := strconv.Itoa(major) + space + unit
	if minor > 0 {
		s += " " + strconv.Itoa(minor) + space + unit2
	}
	return s
}

func milliseconds(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0" + space + "ms"
	case a < 0.9995:
		return Number(v*1000) + space + "µs"
	case a < 999.5:
		return Number(v) + space + "ms"
	default:
		return Number(v/1000) + space + "s"
	}
}

func ratio(v float64) string {
	if a := math.Abs(v); a >= 0.01 && a < 9.995 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return Number(v)
}

func percent(v float64) string {
	v *= 100
	switch a := math.Abs(v); {
	case a == 0:
		return "0" + space + "%"
	case a < 0.001:
		return "<0.001" + space + "%"
	case a < 0.095:
		return Number(v) + space + "%"
	case a < 9.95:
		return strconv.FormatFloat(v, 'f', 1, 64) + space + "%"
	case a > 99 && 100-a > 1e-6 && a < 100: // what is missing to 100 matters, in two digits, unless it is no more than how numbers are rounded
		decimals := 1 - int(math.Floor(math.Log10(100-a)))
		return trim(strconv.FormatFloat(v, 'f', decimals, 64)) + space + "%"
	default:
		return group(strconv.FormatFloat(v, 'f', 0, 64)) + space + "%"
	}
}

func bytes(v float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; math.Abs(v) >= 1023.5 && i < len(units)-1; i++ {
		v /= 1024
	}
	return Number(v) + space + units[i]
}

func elapsed(seconds float64) string {
	s := int(math.Floor(seconds))
	sign := ""
	if s < 0 {
		sign, s = "−", -s
	}
	if s >= 3600 {
		return sign + strconv.Itoa(s/3600) + ":" + pad(s/60%60) + ":" + pad(s%60)
	}
	return sign + strconv.Itoa(s/60) + ":" + pad(s%60)
}

func pad(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// Tick writes a round number for an axis, without the zeros that Format adds for precision.
func (u Unit) Tick(v float64) string {
	if v == 0 && u != Elapsed {
		return "0"
	}
	s := u.Format(v)
	end := strings.LastIndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' }) + 1
	return trim(s[:end]) + s[end:]
}

// trim removes the zeros at the end of a decimal fraction.
func trim(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// group puts a comma between thousands.
func group(s string) string {
	digits := strings.TrimPrefix(s, "-")
	start := len(s) - len(digits)
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
