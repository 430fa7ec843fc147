// Package advise says what to change next about a database: sized, costed, with the predicted effect and its error.
package advise

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseBytes reads a size as a person writes it: 512M, 64G, 800GiB. Units are powers of 1024, as servers read them.
func ParseBytes(text string) (int64, error) {
	s := strings.TrimSpace(text)
	for _, end := range []string{"iB", "B", "ib", "b"} {
		if rest, cut := strings.CutSuffix(s, end); cut {
			s = rest
			break
		}
	}
	shift := 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]&^0x20); i >= 0 {
			shift, s = 10*(i+1), s[:len(s)-1]
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if size := n * math.Exp2(float64(shift)); err == nil && size >= 1 && size < math.MaxInt64 {
		return int64(size), nil
	}
	return 0, fmt.Errorf("%q is not a size, expected one such as 512M or 64G", text)
}
