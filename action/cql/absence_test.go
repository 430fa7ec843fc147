package cql

import (
	"testing"
	"time"
)

const day = 24 * time.Hour

// The bounds themselves: hints are kept for as long as the window, and a deletion may be purged once its time has passed.
func TestAMemberReturnsByTheTimeItWasAway(t *testing.T) {
	usual := terms{hints: 3 * time.Hour, graces: []grace{{"shop", "orders", 10 * day}, {"shop", "carts", 2 * day}, {"audit", "log", 0}}}
	for _, c := range []struct {
		why      string
		terms    terms
		away     time.Duration
		accepted string
		repair   bool
		says     string // "": it may return
	}{
		{"a restart", usual, time.Minute, "", false, ""},
		{"as long as hints are kept", usual, 3 * time.Hour, "", false, ""},
		{"longer than hints are kept", usual, 3*time.Hour + time.Second, "", true, ""},
		{"hints are off", terms{graces: usual.graces}, time.Second, "", true, ""},
		{"a moment before the first table's time", usual, 2*day - time.Second, "", true, ""},
		{"the first table's time", usual, 2 * day, "", false, "node n3 was away for 2d, and shop.carts keeps its deletions for 2d (gc_grace_seconds): the others"},
		{"that table is accepted", usual, 3 * day, "shop.carts", true, ""},
		{"another is accepted", usual, 3 * day, "shop.orders, audit", false, "shop.carts"},
		{"all tables' time", usual, 11*day + 5*time.Hour, "", false, "node n3 was away for 11d 5h, and shop.carts keeps its deletions for 2d (gc_grace_seconds), the first of 2 tables"},
		{"one of two is accepted", usual, 11 * day, "shop.carts", false, "shop.orders keeps its deletions for 10d"},
		{"the keyspace is accepted", usual, 100 * day, "shop", true, ""},
		{"no table but one that keeps none", terms{hints: time.Hour, graces: []grace{{"audit", "log", 0}}}, 100 * day, "", true, ""},
	} {
		repair, err := c.terms.toReturn("n3", c.away, c.accepted)
		if c.says != "" {
			refused(t, err, c.says, "accept_resurrection=shop")
			continue
		}
		if err != nil || repair != c.repair {
			t.Errorf("%s: repair %v, %v, want %v", c.why, repair, err, c.repair)
		}
	}
}

func TestTheTimeAwayIsToldByTheNewestFile(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		newest time.Time
		away   time.Duration
		told   bool
	}{
		{now.Add(-3 * time.Hour), 3 * time.Hour, true},
		{now, 0, true},
		{now.Add(20 * time.Second), 0, true}, // another machine's clock
		{now.Add(time.Hour), 0, false},
	} {
		if away, told := absence(c.newest, now); away != c.away || told != c.told {
			t.Errorf("newest %v: away %v, %v, want %v, %v", c.newest, away, told, c.away, c.told)
		}
	}
}

func TestTimesOfTheServersAreRead(t *testing.T) {
	for text, want := range map[string]time.Duration{"3h": 3 * time.Hour, "10800000ms": 3 * time.Hour, "10800000": 3 * time.Hour, "90m": 90 * time.Minute, "10d": 10 * day, "0s": 0} {
		if got, err := span(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "h", "-1h", "3 h", "3y", "9999999999999d"} {
		if got, err := span(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
