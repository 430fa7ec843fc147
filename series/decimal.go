package series

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// formatDecimal writes d in units of a power of ten of nanoseconds, exactly and no longer than it must be.
func formatDecimal(d, unit time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	text := sign + strconv.FormatInt(int64(d/unit), 10)
	if rest := d % unit; rest > 0 {
		text += strings.TrimRight("."+strconv.FormatInt(int64(unit+rest), 10)[1:], "0")
	}
	return text
}

// parseDecimal reads what formatDecimal wrote; what is finer than a nanosecond is cut off.
func parseDecimal(text string, unit time.Duration, d *time.Duration) error {
	number, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(number, ".")
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || n >= uint64(math.MaxInt64/unit) {
		return fmt.Errorf("%q is not a number in range", text)
	}
	*d = time.Duration(n) * unit
	if fraction != "" {
		width := len(strconv.FormatInt(int64(unit), 10)) - 1
		rest, err := strconv.ParseUint((fraction + "000000000")[:width], 10, 63)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		*d += time.Duration(rest)
	}
	if negative {
		*d = -*d
	}
	return nil
}
