package custom

import (
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
)

// moment is a point in time, fixed or so far from now.
type moment struct {
	fixed    time.Time // zero: relative
	relative time.Duration
}

func (m moment) unix(now func() time.Time) int64 {
	if m.fixed.IsZero() {
		return now().Add(m.relative).Unix()
	}
	return m.fixed.Unix()
}

// momentRange is a moment of a range, uniformly, in UTC, to the second or the day.
type momentRange struct {
	from, to moment
	layout   string
	unit     int64 // seconds
	now      func() time.Time
}

func (g momentRange) value(d *drawing) engine.Value {
	from, to := g.from.unix(g.now)/g.unit, g.to.unix(g.now)/g.unit
	at := (from + d.r.Int64N(max(to-from, 0)+1)) * g.unit
	return d.chars(time.Unix(at, 0).UTC().AppendFormat(d.text, g.layout))
}

func moments(layout string, unit time.Duration) func(*expression) (source, error) {
	const what = "a range such as 2025-01-01..2025-12-31 or -90d..now"
	return func(e *expression) (source, error) {
		t, err := e.value(what)
		if err != nil {
			return nil, err
		}
		from, to, ok := strings.Cut(t.text, "..")
		g := momentRange{layout: layout, unit: int64(unit / time.Second), now: e.scope.now}
		var okFrom, okTo bool
		g.from, okFrom = parseMoment(from)
		g.to, okTo = parseMoment(to)
		if !ok || !okFrom || !okTo {
			return nil, e.errorf(t, "%q, expected %s", t.text, what)
		}
		if g.from.fixed.IsZero() == g.to.fixed.IsZero() && (g.from.fixed.After(g.to.fixed) || g.from.relative > g.to.relative) {
			return nil, e.errorf(t, "%s ends before it begins", t.text)
		}
		return func() generator { return g }, nil
	}
}

// parseMoment reads 2025-01-31, 2025-01-31T08:30:00, now, -90d, -2h, +15m.
func parseMoment(text string) (moment, bool) {
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return moment{fixed: t}, true
		}
	}
	if text == "now" {
		return moment{}, true
	}
	if !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+") {
		return moment{}, false
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		return moment{relative: time.Duration(n) * 24 * time.Hour}, err == nil && max(n, -n) <= 36_500
	}
	d, err := time.ParseDuration(text)
	return moment{relative: d}, err == nil
}
