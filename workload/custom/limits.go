package custom

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"plimsoll/internal/document"
)

// limits is a range as written: 1..100, 0.50..9.99, or one number for both ends where that makes sense.
type limits struct {
	low, high int64
	digits    int // after the point; low and high are in units of the last
}

// between takes a range of numbers.
func (e *expression) between(what string) (limits, error) {
	t, err := e.value(what)
	if err != nil {
		return limits{}, err
	}
	from, to, ok := strings.Cut(t.text, "..")
	digits := max(decimals(from), decimals(to))
	low, okLow := scaled(from, digits)
	high, okHigh := scaled(to, digits)
	if !ok || !okLow || !okHigh {
		return limits{}, e.errorf(t, "%q, expected %s", t.text, what)
	}
	switch {
	case low > high:
		return limits{}, e.errorf(t, "%s ends before it begins", t.text)
	case high-low+1 <= 0:
		return limits{}, e.errorf(t, "%s is too large", t.text)
	}
	return limits{low, high, digits}, nil
}

func decimals(number string) int {
	_, after, _ := strings.Cut(number, ".")
	return len(after)
}

// scaled reads a decimal number in units of its last digit; k, M and G multiply whole ones.
func scaled(text string, digits int) (int64, bool) {
	if digits == 0 {
		negative := strings.HasPrefix(text, "-")
		n, err := document.Count(&document.Node{Kind: document.Scalar, Text: strings.TrimPrefix(text, "-")})
		if negative {
			n = -n
		}
		return n, err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	f *= math.Pow10(digits)
	if err != nil || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(math.Round(f)), true
}

// longest is what a value may measure.
const longest = 1 << 20

// length takes the length of a text: a number or a range of them.
func (e *expression) length(what string) (limits, error) {
	t := e.next()
	var l limits
	var err error
	if strings.Contains(t.text, "..") {
		l, err = e.between(what)
	} else {
		l.low, err = e.count(what)
		l.high = l.low
	}
	if err == nil && (l.low < 0 || l.digits > 0 || l.high > longest) {
		err = e.errorf(t, "%s, expected a length up to %d", t.text, longest)
	}
	return l, err
}

// count takes a whole number.
func (e *expression) count(what string) (int64, error) {
	t, err := e.value(what)
	if err != nil {
		return 0, err
	}
	at := e.place(t)
	at.Text, at.Kind = t.text, document.Scalar
	return document.Count(at)
}

// draw draws a length.
func (l limits) draw(r *rand.Rand) int { return int(l.low + r.Int64N(l.high-l.low+1)) }
