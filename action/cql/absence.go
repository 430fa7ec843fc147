package cql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/hint"
)

// terms are what a ring allows a member that was away.
type terms struct {
	// hints is for how long the others keep the writes that a member misses (max_hint_window); 0: they keep none, or do not tell.
	hints  time.Duration
	graces []grace
}

// grace is for how long a table keeps its deletions before they may be purged (gc_grace_seconds).
type grace struct {
	keyspace, table string
	lasts           time.Duration
}

func (g grace) String() string { return g.keyspace + "." + g.table }

// toReturn tells whether a member that was away for so long, at most, must be repaired when it is back. It refuses one that was away
// for as long as a table keeps its deletions: the others may have purged what it never heard of, and it would bring the deleted rows
// back. A table that keeps none (0) was given up to that by its owner.
func (t terms) toReturn(node string, away time.Duration, accepted string) (repair bool, err error) {
	allowed := listed(accepted)
	var late []grace
	for _, g := range t.graces {
		if g.lasts > 0 && away >= g.lasts && !slices.Contains(allowed, g.keyspace) && !slices.Contains(allowed, g.String()) {
			late = append(late, g)
		}
	}
	if len(late) == 0 {
		return away > t.hints, nil
	}
	slices.SortFunc(late, func(a, b grace) int { return int(a.lasts - b.lasts) })
	others, names := "", make([]string, 0, len(late))
	if len(late) > 1 {
		others = fmt.Sprintf(", the first of %d tables", len(late))
	}
	for _, g := range late {
		names = append(names, g.keyspace)
	}
	slices.Sort(names)
	return false, &hint.PermanentError{
		Reason: fmt.Sprintf("node %s was away for %s, and %s keeps its deletions for %s (gc_grace_seconds)%s: the others may have purged deletions in the meantime, and this node's files would bring the deleted rows back",
			node, days(away), late[0], days(late[0].lasts), others),
		Advice: "the node was not started, and the data of the others is safe. Do not start it with these files: replace it with a new node, which streams from the others (cql/replace-node -i dead=" + node + "). " +
			"If nothing was deleted and nothing expired in the meantime, name the tables or keyspaces: accept_resurrection=" + strings.Join(slices.Compact(names), ","),
	}
}

// days writes a time as people do who count in days.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < day:
		return d.Round(time.Second).String()
	case d%day < time.Hour:
		return fmt.Sprintf("%dd", d/day)
	}
	return fmt.Sprintf("%dd %dh", d/day, d%day/time.Hour)
}

// absence is for how long a node has written nothing, by its newest file; false where the machine's clock is behind that file.
func absence(newest, now time.Time) (time.Duration, bool) {
	away := now.Sub(newest)
	return max(away, 0), away > -time.Minute // clocks of two machines may differ by some seconds
}

// clockFits refuses a machine whose clock is a minute or more off ours, which went from asked to answered while it was read. Rows carry the
// time at which a node took them, and of two the later one wins: what a node whose clock is ahead writes cannot be changed until the others'
// clocks are there, and what one that is behind writes is lost.
func clockFits(node string, now, asked, answered time.Time) error {
	off, way := asked.Sub(now), "behind"
	if now.After(answered) {
		off, way = now.Sub(answered), "ahead of"
	}
	if off < time.Minute {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("the clock of the machine of node %s says %s, %s %s the clock of this host: of two writes to a row the one with the later timestamp wins, so writes to this node would wrongly win, or be lost",
			node, now.Format(time.DateTime), off.Round(time.Second), way),
		Advice: "the node was not started, and the data of the others is safe. Set the clock that is wrong (chronyc makestep; plimsoll machine check compares them), then plimsoll runbook resume RUN",
	}
}

// span reads a time as the servers show it: 3h, 10800000ms, and in milliseconds without a unit.
func span(text string) (time.Duration, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzµ")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit, known := map[string]time.Duration{
		"": time.Millisecond, "ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond,
		"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[text[len(digits):]]
	if err != nil || !known || n < 0 || n > int64(1<<62)/int64(unit) {
		return 0, fmt.Errorf("%q, expected a time such as 3h", text)
	}
	return time.Duration(n) * unit, nil
}
