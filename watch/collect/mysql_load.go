package collect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"plimsoll/watch"
)

// total is time that statements of all sessions have taken since the server's start, in seconds, with that of those under way.
type total struct {
	statements float64
	waits      map[string]float64 // by class, as far as the server counts them
}

// total asks the performance schema's summaries. A summary counts a statement when it ends: of what runs now the list of sessions
// tells how long it has run, so that a statement of ten minutes counts in the ten minutes and not at their end.
func (q *quick) total(ctx context.Context, sessions []session) (*total, error) {
	if q.lacking("statement summaries") {
		return nil, nil
	}
	// By user, since a replica's own threads are no sessions: a row that they waited for would count at its end, all at once.
	// What was never timed is left out first: that is nearly all, and to compare names by a collation takes longer.
	r, err := q.rows(ctx, `SELECT COALESCE(SUM(SUM_TIMER_WAIT), 0) / 1000000000000 FROM performance_schema.events_statements_summary_by_user_by_event_name
WHERE SUM_TIMER_WAIT > 0 AND USER IS NOT NULL AND USER NOT IN ('event_scheduler', 'system user')`)
	if err != nil {
		q.lack("statement summaries", err)
		return nil, err
	}
	t := &total{waits: map[string]float64{}}
	sum, ok := number(r.At(0, 0))
	if !ok {
		return nil, nil
	}
	t.statements = sum
	for _, s := range sessions {
		t.statements += s.seconds
	}
	if q.lacking("wait summaries") {
		return t, nil
	}
	r, err = q.rows(ctx, `SELECT EVENT_NAME, SUM(SUM_TIMER_WAIT) / 1000000000000 FROM performance_schema.events_waits_summary_by_user_by_event_name
WHERE SUM_TIMER_WAIT > 0 AND USER IS NOT NULL AND USER NOT IN ('event_scheduler', 'system user') GROUP BY EVENT_NAME`)
	if err != nil {
		q.lack("wait summaries", err)
		return t, err
	}
	for row := range r.Rows {
		if class := ClassOfEvent(string(r.At(row, 0).Data)); class != "" && class != "network" {
			seconds, _ := number(r.At(row, 1))
			t.waits[class] += seconds
		}
	}
	return t, nil
}

// window is over how many readings the picture's load is a mean, unless more than longestWindow lies between two of them.
const (
	window        = 15
	longestWindow = window * time.Second
)

// load is the average number of active sessions by wait.
type load struct {
	latest  []watch.Wait // of the last reading
	history [][]watch.Wait
	turned  time.Time       // at the last reading
	shown   map[string]bool // classes that were shown once: their series go on at 0, or PromQL would see the last value for minutes
	exact   bool
	before  *total
	at      time.Time
	skipped int                  // readings since before that contradicted it
	sampled []map[string]float64 // classes of the last samples, to split what counters do not tell apart
}

// turn books a reading: the sum of all statements' time if the server counts it, else how many were seen.
func (l *load) turn(now time.Time, sessions []session, t *total, counters *rates) {
	gap, keep := now.Sub(l.turned), window
	switch {
	case gap > longestWindow: // of a server that was not polled, what was before is not now
		l.history, l.sampled = nil, nil
	case gap >= 2*time.Second: // of one in distress, which is looked at now and then, what was long before
		keep = max(int(longestWindow/gap), 2)
	}
	l.turned = now
	seen := map[string]float64{}
	for _, s := range sessions {
		seen[s.class]++
	}
	// InnoDB does not show in a session's state that it waits for a row; it counts how many do.
	if waiting := min(counters.now["innodb_row_lock_current_waits"], seen["cpu"]); waiting > 0 {
		seen["cpu"] -= waiting
		seen["row lock"] += waiting
	}
	l.sampled = append(l.sampled, seen)
	l.sampled = l.sampled[max(len(l.sampled)-keep, 0):]

	by := seen
	l.exact = t != nil
	agrees := true
	if t != nil && l.before != nil {
		if counted, ok := l.counted(now.Sub(l.at).Seconds(), t, counters); ok {
			by = counted
		} else {
			agrees = false
		}
	}
	if l.skipped++; agrees || l.skipped > mostSkipped {
		l.before, l.at, l.skipped = t, now, 0
	}
	l.latest = l.zeroed(by)
	l.history = append(l.history, l.latest)
	l.history = l.history[max(len(l.history)-keep, 0):]
}

// mostSkipped is how many readings in a row may contradict the one before them, until the latest counts as the first of a new time: the
// summaries were truncated, or the server restarted.
const mostSkipped = 3

// counted is the load by counters: what they tell apart is exact, and the rest is split as the samples have it. A statement that ends
// between the list of sessions and the summaries is in both, with all of its time, or in neither: the reading contradicts the one before
// it, because more statements would have run than there are connections, or less than none. The next one agrees with that again.
func (l *load) counted(over float64, t *total, counters *rates) (map[string]float64, bool) {
	sum := (t.statements - l.before.statements) / over
	connected, known := counters.now["threads_connected"]
	if over <= 0 || sum < -0.5 || known && sum > connected+1 {
		return nil, false
	}
	sum = max(sum, 0)
	by := map[string]float64{}
	for class, seconds := range t.waits {
		by[class] = max(seconds-l.before.waits[class], 0) / over
	}
	if ms := counters.rate("innodb_row_lock_time"); ms != nil {
		by["row lock"] += *ms / 1000
	}
	if us := counters.rate("rpl_semi_sync_master_tx_wait_time", "rpl_semi_sync_source_tx_wait_time"); us != nil {
		by["semi-sync"] += *us / 1e6
	}
	told := 0.0
	for _, aas := range by {
		told += aas
	}
	if told > sum { // a wait is counted when it ends, its statement as it runs: over some seconds they agree
		for class := range by {
			by[class] *= sum / told
		}
		return by, true
	}
	l.split(by, sum-told)
	return by, true
}

// split shares what counters do not tell apart among the classes that only samples show.
func (l *load) split(by map[string]float64, rest float64) {
	untold := map[string]float64{}
	all := 0.0
	for _, seen := range l.sampled {
		for class, n := range seen {
			if by[class] == 0 || class == "cpu" {
				untold[class] += n
				all += n
			}
		}
	}
	if all == 0 {
		by["cpu"] += rest
		return
	}
	for class, n := range untold {
		by[class] += rest * n / all
	}
}

// zeroed are classes and their load, those that were shown before among them.
func (l *load) zeroed(by map[string]float64) []watch.Wait {
	if l.shown == nil {
		l.shown = map[string]bool{}
	}
	var all []watch.Wait
	for _, class := range watch.Classes {
		if by[class] > 0 || class == "cpu" {
			l.shown[class] = true
		}
		if l.shown[class] {
			all = append(all, watch.Wait{Class: class, AAS: by[class]})
		}
	}
	return all
}

// picture is the mean over the last readings.
func (l *load) picture() watch.Load {
	sums := map[string]float64{}
	for _, reading := range l.history {
		for _, w := range reading {
			sums[w.Class] += w.AAS / float64(len(l.history))
		}
	}
	p := watch.Load{Source: "samples", Waits: waits(sums)}
	if l.exact {
		p.Source = "counters"
	}
	slices.SortStableFunc(p.Waits, func(a, b watch.Wait) int { return cmp.Compare(b.AAS, a.AAS) })
	for _, w := range p.Waits {
		p.AAS += w.AAS
	}
	return p
}

// waits are classes and their load in the order of watch.Classes. The CPU is always among them: a load of 0 is a value too.
func waits(by map[string]float64) []watch.Wait {
	var all []watch.Wait
	for _, class := range watch.Classes {
		if aas := by[class]; aas > 0 || class == "cpu" {
			all = append(all, watch.Wait{Class: class, AAS: aas})
		}
	}
	return all
}
